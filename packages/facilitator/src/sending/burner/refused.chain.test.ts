import { startChain } from '@svc-zerc20/devnet'
import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLyingNode } from '../../../test/lying-node.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../config/limits.js'

/** Gas of a transaction with so many burns. */
const gasOf = (burns: number) => limits.batchBaseGas + limits.burnItemGas * BigInt(burns)

let chain: Awaited<ReturnType<typeof startChain>>
let node: Awaited<ReturnType<typeof startLyingNode>>
let net: TestNetwork
beforeAll(async () => {
  chain = await startChain()
  node = await startLyingNode(chain)
  net = await startNetwork({ chain, rpcUrl: node.url, config: { settlement: { receipt_poll_ms: 600_000 } } })
})
afterAll(async () => {
  await net.close()
  await node.close()
  await chain.close()
})

/** The node takes no transaction with more gas than this. */
function refuseAbove(gasMax: bigint): void {
  node.takeOver((response, [call]) => {
    if (call?.method !== 'eth_sendRawTransaction') return false
    const { gas = 0n } = parseTransaction(call.params[0] as Hex)
    if (gas <= gasMax) return false
    const error = { code: -32000, message: 'exceeds block gas limit' }
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }))
    return true
  })
}

const count = (event: string) => net.events.filter((seen) => seen.event === event).length
const phaseOf = async (nonce: Hex) => (await net.status(nonce)).body.phase

describe('a batch that the node does not take', () => {
  it('is tried in halves until it fits: every burn is executed once, and later ones fit at once', async () => {
    const payers = await Promise.all(Array.from({ length: 10 }, () => net.account()))
    const payments = await net.permitPayments(payers)
    refuseAbove(gasOf(4))
    const settled = payments.map(({ body }) => net.settle(body))
    await net.passTime(limits.rebroadcastMs, async () => {
      const phases = await Promise.all(payments.map(({ offer }) => phaseOf(offer.challengeNonce)))
      return phases.every((phase) => phase === 'accepted')
    })
    for (const { body } of await Promise.all(settled)) expect(body.success).toBe(true)
    for (const { offer } of payments) expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
    expect(count('relayer.given_up')).toBeGreaterThan(0)
    expect([count('burn.failed'), count('relayer.displaced')]).toEqual([0, 0])
    const givenUp = count('relayer.given_up')
    const later = await net.permitPayments(payers)
    for (const { body } of await Promise.all(later.map(({ body }) => net.settle(body)))) {
      expect(body.success).toBe(true)
    }
    expect(count('relayer.given_up')).toBe(givenUp)
  })

  it('ends by name when not even a single burn is taken, and the queue goes on afterwards', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    refuseAbove(gasOf(0) + 100_000n)
    const settled = net.settle(body)
    await net.passTime(limits.rebroadcastMs, () => count('burn.failed') > 0)
    expect((await settled).body.errorReason).toBe('relayer_busy')
    expect(await net.burnsOf(offer.challengeNonce)).toEqual([])
    node.tellTruth()
    expect((await net.settle(body)).body.success).toBe(true)
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })
})
