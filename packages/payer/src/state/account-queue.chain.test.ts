/** Several payers of one account, and nodes that lie about its transfers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createWalletClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { randomHex } from '../../test/offers.js'
import { startPaywall } from '../../test/paywall.js'
import { type CreatePayerOptions, createPayer, type PayerError } from '../index.js'
import { defaultLimits } from '../limits.js'
import { openState } from './open-state.js'

let net: TestNetwork
let seller: Awaited<ReturnType<typeof startHostileSeller>>
let state: string
beforeAll(async () => {
  net = await startNetwork()
  seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer }) =>
    isPaid ? settle(200, { success: true }) : demand(offer({ amount: '1000000' })),
  )
})
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-turns-'))
})
afterEach(async () => {
  net.chain.setFaults([])
  await net.chain.dropPending()
  await net.chain.resumeMining()
  await rm(state, { recursive: true, force: true })
})
afterAll(async () => {
  await seller.close()
  await net.close()
})

const newPayer = (changes: Partial<CreatePayerOptions> = {}) =>
  createPayer({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    state,
    mode: 'self-transfer' as const,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: 'unlimited',
    maxTotal: 'unlimited',
    limits: { receiptPollMs: 5, receiptWaitMsMax: 20_000 },
    ...changes,
  })
const failure = (payment: Promise<unknown>): Promise<PayerError> =>
  payment.then(
    () => expect.fail('it should have failed'),
    (error) => error,
  )
const reservations = async () => {
  const { totals } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
  return Object.keys((await totals.state()).reservations)
}
const spent = async () => {
  const { totals } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
  return Object.values((await totals.state()).totals)
}
const refusal = {
  method: 'eth_sendRawTransaction',
  kind: 'error',
  code: -32_000,
  message: 'insufficient funds for gas * price + value',
  executed: false,
} as const
const refusing = (message: string, executed: boolean) =>
  net.chain.setFaults([
    { method: 'eth_sendRawTransaction', kind: 'error', code: -32_000, message, executed },
    { method: 'eth_getTransactionByHash', kind: 'result', value: null },
  ])

describe('payers that share an account and a state folder', () => {
  it('each send a transfer of their own, at once', async () => {
    const pay = (path: number) => newPayer().pay(`${seller.url}/${path}`)
    const bought = await Promise.all([1, 2, 3, 4].map(pay))
    expect(bought.map(({ response }) => response.status)).toEqual([200, 200, 200, 200])
    expect(await reservations()).toEqual([])
  })

  it('go on behind a transfer that was signed and never sent', async () => {
    refusing('the node is shutting down', false)
    const impatient = newPayer({ limits: { receiptPollMs: 5, receiptWaitMsMax: 20 } })
    const error = await failure(impatient.pay(`${seller.url}/first`))
    expect(error.code).toBe('burn_unconfirmed')
    net.chain.setFaults([])
    expect((await newPayer().pay(`${seller.url}/second`)).response.status).toBe(200)
    expect((await newPayer().pay(`${seller.url}/first`)).payment).toMatchObject({
      transaction: error.burnTxHash,
      isResumed: true,
    })
  })
})

describe('a transfer that was signed', () => {
  it('counts as spent, though a node refuses it and keeps it', async () => {
    await net.chain.pauseMining()
    refusing('insufficient funds for gas * price + value', true)
    const codes: string[] = []
    for (const path of [1, 2, 3, 4, 5]) {
      const payer = newPayer({ maxTotal: '2000000' })
      codes.push((await failure(payer.pay(`${seller.url}/${path}`))).code)
    }
    const [first, second, ...others] = codes
    expect([first, second]).toEqual(['burn_unconfirmed', 'burn_unconfirmed'])
    expect(new Set(others)).toEqual(new Set(['total_exceeded']))
    expect(await reservations()).toHaveLength(2)
  })

  it('counts as spent, though the node says that its txNonce is used', async () => {
    await net.chain.mine(defaultLimits.settledBlocks)
    await net.chain.pauseMining()
    const codes: string[] = []
    for (const path of [1, 2, 3, 4, 5]) {
      refusing('insufficient funds for gas * price + value', true)
      const payer = newPayer({ maxTotal: '2000000' })
      codes.push((await failure(payer.pay(`${seller.url}/${path}`))).code)
      net.chain.setFaults([{ method: 'eth_getTransactionCount', kind: 'result', value: '0x3e8' }])
      await newPayer().scheme.guard.reconcile()
    }
    const [first, second, ...others] = codes
    expect([first, second]).toEqual(['burn_unconfirmed', 'burn_unconfirmed'])
    expect(new Set(others)).toEqual(new Set(['total_exceeded']))
    expect(await reservations()).toHaveLength(2)
  })

  it('counts as spent when the node has removed its receipt', async () => {
    const refuses = await startPaywall(net, { steps: ['break'], offer: { amount: '1000000' } })
    try {
      expect((await failure(newPayer().pay(refuses.url))).code).toBe('payment_unanswered')
      await net.chain.mine(defaultLimits.settledBlocks)
      net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null }])
      const { code } = await failure(newPayer({ maxTotal: '1000000' }).pay(seller.url))
      expect([code, await spent()]).toEqual(['total_exceeded', ['1000000']])
    } finally {
      await refuses.close()
    }
  })

  it('ends once another one of ours used its txNonce, and on no other word', async () => {
    const again = { ...refusal, times: 2 } // when it is sent, and again before the next one is signed
    net.chain.setFaults([again])
    const error = await failure(newPayer().pay(seller.url))
    expect(error.code).toBe('burn_unconfirmed')
    const wide = await newPayer({ maxTotal: '2000000' }).pay(`${seller.url}/other`)
    expect(wide.payment).toMatchObject({ isResumed: false })
    const { payment } = await newPayer({ maxTotal: '2000000' }).pay(seller.url)
    expect(payment).toMatchObject({ isResumed: false })
    expect(payment?.transaction).not.toBe(error.burnTxHash)
    await newPayer().scheme.guard.reconcile()
    expect([await reservations(), await spent()]).toEqual([[], ['2000000']])
  })

  it('stays counted when a transaction from elsewhere used its txNonce', async () => {
    refusing('insufficient funds for gas * price + value', false)
    expect((await failure(newPayer().pay(seller.url))).code).toBe('burn_unconfirmed')
    net.chain.setFaults([])
    const wallet = createWalletClient({ account: net.payer, transport: http(net.rpcUrl) })
    await net.mined(await wallet.sendTransaction({ chain: null, to: net.relayer.address, value: 1n }))
    await net.chain.mine(defaultLimits.settledBlocks)
    const { code } = await failure(newPayer({ maxTotal: '1000000' }).pay(`${seller.url}/other`))
    expect([code, await reservations()]).toEqual(['total_exceeded', [expect.any(String)]])
    // It can pay for nothing any more, so the same request makes a new one.
    const { payment } = await newPayer({ maxTotal: '2000000' }).pay(seller.url)
    expect(payment).toMatchObject({ isResumed: false })
  })

  it('is not sent again after its offer has expired', async () => {
    let skewMs = 0
    const clock = { ...systemClock, now: () => Date.now() + skewMs }
    refusing('insufficient funds for gas * price + value', false)
    const error = await failure(newPayer({ clock }).pay(seller.url))
    net.chain.setFaults([])
    skewMs = 301_000
    const expired = await startHostileSeller(net, ({ isPaid, settle, demand, offer }) => {
      const expiresAt = Math.floor(clock.now() / 1_000) + 300
      return isPaid ? settle(200, { success: true }) : demand(offer({ extra: { expiresAt } }))
    })
    try {
      expect((await newPayer({ clock }).pay(expired.url)).response.status).toBe(200)
      const receipt = net.client.getTransactionReceipt({ hash: error.burnTxHash ?? randomHex(32) })
      await expect(receipt).rejects.toThrow('could not be found')
    } finally {
      await expired.close()
    }
  })
})

it('payers of one account that share a state folder sign each permit with a nonce of its own', async () => {
  const paywall = await startPaywall(net)
  try {
    const limits = { nonceHoldMsMax: 60_000, noncePollMs: 10 }
    const payers = Array.from({ length: 5 }, () => newPayer({ mode: 'permit', limits }))
    const bought = await Promise.all(payers.map((payer) => payer.pay(paywall.url)))
    expect(bought.map(({ response }) => response.status)).toEqual(payers.map(() => 200))
    expect(paywall.presented).toHaveLength(payers.length)
  } finally {
    await paywall.close()
  }
})
