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

  it('ends once another transaction used its txNonce, and not before that is deep', async () => {
    refusing('insufficient funds for gas * price + value', false)
    const error = await failure(newPayer().pay(seller.url))
    expect(error.code).toBe('burn_unconfirmed')
    net.chain.setFaults([])
    const wallet = createWalletClient({ account: net.payer, transport: http(net.rpcUrl) })
    await net.mined(await wallet.sendTransaction({ chain: null, to: net.relayer.address, value: 1n }))
    // Another payment needs the room. The chain is asked, and does not tell yet.
    const tight = { maxTotal: '1000000' }
    expect((await failure(newPayer(tight).pay(`${seller.url}/other`))).code).toBe('total_exceeded')
    for (let block = 0; block < defaultLimits.settledBlocks; block += 1) await net.chain.mine()
    const { payment } = await newPayer(tight).pay(seller.url)
    expect(payment).toMatchObject({ isResumed: false })
    expect(payment?.transaction).not.toBe(error.burnTxHash)
    expect(await reservations()).toEqual([])
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
