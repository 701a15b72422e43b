import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../config/limits.js'

let net: TestNetwork
beforeAll(async () => {
  // Requests to the node are counted: nothing may be asked in the background.
  net = await startNetwork({ config: { settlement: { reorg_watch_blocks: 0 } } })
})
afterAll(() => net.close())
afterEach(() => {
  net.chain.setFaults([])
  net.clock.advance(limits.probeFreshMs)
})

const parts = async () => {
  const { status, headers, body } = await net.send('/ready')
  const { ready, problems } = body as { ready: boolean; problems: { part: string }[] }
  expect(ready).toBe(status === 200)
  expect(headers.has('retry-after')).toBe(!ready)
  return { status, parts: problems.map(({ part }) => part) }
}

describe('GET /ready', () => {
  it('answers 200 when payments can be taken', async () => {
    await until(async () => (await parts()).status === 200)
  })

  it('names a chain that does not answer, and is ready again when it does', async () => {
    net.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
    expect(await parts()).toEqual({ status: 503, parts: ['chain'] })
    expect((await net.send('/health')).body).toEqual({ status: 'live' })
    net.chain.setFaults([])
    net.clock.advance(limits.probeFreshMs)
    expect((await parts()).status).toBe(200)
  })

  it('tells slow from down: a node that takes longer than it waits still serves payments', async () => {
    const { body } = await net.permitPayment(await net.account())
    net.chain.setFaults([{ method: '*', kind: 'delay', delayMs: limits.probeWaitMs + 500 }])
    expect((await parts()).status).toBe(200)
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await parts()).status).toBe(200)
  })

  it('asks again at once when a node fails now and then', async () => {
    net.chain.setFaults([{ method: 'eth_gasPrice', kind: 'httpStatus', status: 500, times: 2 }])
    expect((await parts()).status).toBe(200)
  })

  it('does not wait for a node that hangs, and finds it down once its answer is overdue for good', async () => {
    net.chain.setFaults([{ method: '*', kind: 'hang' }])
    const askedAtMs = Date.now()
    expect((await parts()).status).toBe(200)
    expect(Date.now() - askedAtMs).toBeLessThan(limits.rpcTimeoutMs / 2)
    await until(async () => (await parts()).status === 503)
    expect(await parts()).toEqual({ status: 503, parts: ['chain'] })
  })

  it('names a clock that is behind the chain, and is ready again when it is set', async () => {
    net.clock.advance(-3_600_000)
    expect(await parts()).toEqual({ status: 503, parts: ['clock'] })
    net.clock.advance(3_600_000)
    expect((await parts()).status).toBe(200)
  })

  it('names a clock that is ahead, as soon as a block shows it, and is ready again when it is set', async () => {
    net.clock.advance(3_600_000)
    // A chain that makes blocks on demand may have an old one on top: that alone says nothing.
    expect((await parts()).status).toBe(200)
    await net.chain.mine()
    net.clock.advance(limits.probeFreshMs)
    expect(await parts()).toEqual({ status: 503, parts: ['clock'] })
    net.clock.advance(-3_600_000)
    expect((await parts()).status).toBe(200)
  })

  it('names another chain behind the RPC', async () => {
    net.chain.setFaults([{ method: 'eth_chainId', kind: 'result', value: '0x1' }])
    expect(await parts()).toEqual({ status: 503, parts: ['chain'] })
  })

  it('names a relayer without gas money', async () => {
    net.chain.setFaults([{ method: 'eth_getBalance', kind: 'result', value: '0x1' }])
    expect(await parts()).toEqual({ status: 503, parts: ['relayer'] })
  })

  it('asks the node once, however many ask', async () => {
    const asked = await net.nodeRequestsDuring(async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => net.send('/ready')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    })
    expect(asked).toBeLessThanOrEqual(1)
  })

  it('tells strangers no address, no URL and no balance', async () => {
    net.chain.setFaults([{ method: 'eth_getBalance', kind: 'result', value: '0x1' }])
    const { text } = await net.send('/ready')
    expect(text).not.toMatch(/0x|http|\d{3}/)
    expect(text.toLowerCase()).not.toContain(developmentRoles.relayer.address.toLowerCase())
  })
})

describe('GET /ready of a daemon without ready addresses', () => {
  it('names the addresses', async () => {
    const slow = await startNetwork({
      waitsForAddress: false,
      config: { zerc20: { pow_bits: 32, pool_size: 1 } },
    })
    try {
      const { status, body } = await slow.send('/ready')
      expect([status, body.problems]).toEqual([
        503,
        [{ part: 'addresses', problem: 'no burn address is ready' }],
      ])
    } finally {
      await slow.close()
    }
  })
})

describe('GET /ready of a daemon that mints, where payers burn themselves', () => {
  it('names a relayer that cannot pay for a mint', async () => {
    const minting = await startNetwork({
      finalization: true,
      config: { settlement: { permit_burner: undefined } },
    })
    try {
      await until(async () => (await minting.send('/ready')).status === 200)
      minting.chain.setFaults([{ method: 'eth_getBalance', kind: 'result', value: '0x0' }])
      minting.clock.advance(limits.probeFreshMs)
      const { status, body } = await minting.send('/ready')
      expect([status, body.problems]).toEqual([
        503,
        [{ part: 'relayer', problem: 'the relayer cannot pay for a mint' }],
      ])
    } finally {
      await minting.close()
    }
  })
})
