/** Nodes and disks that fail at the moment when it is decided whether a payment is made anew. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenAbi } from '@svc-zerc20/contracts'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Address, createWalletClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { startNodeInFront } from '../../test/node-in-front.js'
import { type Step, startPaywall } from '../../test/paywall.js'
import { type CreatePayerOptions, createPayer, type PayerError } from '../index.js'
import { defaultLimits } from '../limits.js'
import { exitOf } from '../payer-error.js'

let net: TestNetwork
let state: string
let held: bigint
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
beforeEach(async () => {
  state = join(await mkdtemp(join(tmpdir(), 'svc-pay-once-')), 'state')
  held = await net.balanceOf(net.payer.address)
})
afterEach(async () => {
  net.chain.setFaults([])
  for (const close of closers.splice(0)) await close()
  await net.chain.dropPending()
  await net.chain.resumeMining()
  await rm(join(state, '..'), { recursive: true, force: true })
})
afterAll(() => net.close())

const payerWith = (changes: Partial<CreatePayerOptions> = {}) =>
  createPayer({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    state,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: 'unlimited',
    maxTotal: 'unlimited',
    limits: { receiptPollMs: 5, receiptWaitMsMax: 5_000, noncePollMs: 5, nonceMoveMsMax: 50 },
    ...changes,
  })
async function paywall(...steps: Step[]) {
  const seller = await startPaywall(net, { steps })
  closers.push(seller.close)
  return seller
}
const failure = (payment: Promise<unknown>): Promise<PayerError> =>
  payment.then(
    () => expect.fail('it should have failed'),
    (error) => error,
  )
const burned = async () => held - (await net.balanceOf(net.payer.address))
const refused: Step = { reason: 'challenge_expired' }

describe.each(['permit', 'self-transfer'] as const)(
  'a payment by %s that was burned, and is refused for good',
  (mode) => {
    it('is followed by no other one while the node does not answer, and then is told to be paid', async () => {
      const seller = await paywall('break', refused, refused)
      const payer = payerWith({ mode })
      expect((await failure(payer.pay(seller.url))).code).toBe('payment_unanswered')
      const fault = { kind: 'error', code: -32_000, message: 'header not found', times: 1 } as const
      net.chain.setFaults([
        { method: mode === 'permit' ? 'eth_call' : 'eth_getTransactionReceipt', ...fault },
      ])
      const unknown = await failure(payer.pay(seller.url))
      expect([unknown.code, exitOf(unknown), unknown.burnTxHash !== undefined]).toEqual([
        'payment_pending',
        'pending',
        mode === 'self-transfer',
      ])
      const told = await failure(payer.pay(seller.url))
      expect([told.code, told.detail]).toEqual([
        'payment_refused',
        expect.stringContaining('this was paid for'),
      ])
      expect([seller.offers.length, await burned()]).toEqual([1, 1_000n])
    })
  },
)

it('a node that is a block behind has nothing paid twice: its no is no proof that none can come', async () => {
  const seller = await paywall('break', refused, refused)
  const payer = payerWith()
  expect((await failure(payer.pay(seller.url))).code).toBe('payment_unanswered')
  net.chain.setFaults([{ method: '*', kind: 'lag', blocks: 1 }])
  expect((await failure(payer.pay(seller.url))).code).toBe('payment_pending')
  net.chain.setFaults([])
  expect((await failure(payer.pay(seller.url))).detail).toContain('this was paid for')
  expect([seller.offers.length, await burned()]).toEqual([1, 1_000n])
})

it('a transfer whose receipt the node has removed is paid: its burn address has the amount', async () => {
  const seller = await paywall('break', refused)
  const payer = payerWith({ mode: 'self-transfer' })
  const { burnTxHash } = await failure(payer.pay(seller.url))
  await net.chain.mine(defaultLimits.settledBlocks)
  net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null }])
  const told = await failure(payer.pay(seller.url))
  expect(told).toMatchObject({ code: 'payment_refused', burnTxHash })
  expect(told.detail).toContain('this was paid for')
  expect([seller.offers.length, await burned()]).toEqual([1, 1_000n])
})

it('a refused permit is replaced by none before its deadline: the allowance of any later permit lets it burn', async () => {
  const seller = await paywall(refused, refused, refused)
  const other = await paywall('serve', 503)
  const payer = payerWith()
  expect((await failure(payer.pay(seller.url))).code).toBe('payment_pending')
  // Something else takes its permit nonce, and yet another permit gives the helper what it may take.
  await payer.pay(`${other.url}?first`)
  expect((await failure(payer.pay(seller.url))).code).toBe('payment_pending')
  expect((await payer.pay(`${other.url}?second`)).response.status).toBe(503)
  await other.misuse(1, 'permit')
  await seller.misuse(0, 'burn')
  expect((await failure(payer.pay(seller.url))).detail).toContain('this was paid for')
  expect([seller.offers.length, await burned()]).toEqual([1, 2_000n])
})

it('a permit that cannot be signed again may still burn: it is pending, and so is a forgotten one on a silent chain', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const seller = await paywall({ reason: 'permit_nonce_stale' })
  const payer = payerWith({ clock })
  const error = await failure(payer.pay(seller.url))
  expect([error.code, exitOf(error)]).toEqual(['payment_pending', 'pending'])

  const silent = await paywall(503, 503)
  expect((await payer.pay(silent.url)).end).toBe('pending')
  aheadMs = (300 + defaultLimits.retentionSeconds) * 1_000
  net.chain.setFaults([{ method: '*', kind: 'error', code: -32_000, message: 'out of order' }])
  expect((await failure(payer.pay(silent.url))).code).toBe('payment_pending')
  net.chain.setFaults([])
  expect([seller.offers.length, silent.offers.length, await burned()]).toEqual([1, 1, 0n])
})

it('a transfer that the node never took is replaced by one with its txNonce once its offer expired', async () => {
  let skewMs = 0
  const clock = { ...systemClock, now: () => Date.now() + skewMs }
  const seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer }) => {
    const expiresAt = Math.floor(clock.now() / 1_000) + 300
    return isPaid ? settle(200, { success: true }) : demand(offer({ extra: { expiresAt } }))
  })
  closers.push(seller.close)
  const payer = payerWith({ mode: 'self-transfer', clock })
  const sent = await net.sentBy(net.payer.address)
  const message = 'insufficient funds for gas * price + value'
  net.chain.setFaults([
    { method: 'eth_sendRawTransaction', kind: 'error', code: -32_000, message, executed: false },
  ])
  const { burnTxHash } = await failure(payer.pay(seller.url))
  net.chain.setFaults([])
  skewMs = 301_000
  const { payment } = await payer.pay(seller.url)
  expect(payment?.transaction).not.toBe(burnTxHash)
  expect([await net.sentBy(net.payer.address), await burned()]).toEqual([sent + 1, 1_000n])
})

it('R-030 a disk that fails after a transfer was sent costs no word of it: exit 6 with the hash, and no second burn', async () => {
  const seller = await paywall()
  const front = await startNodeInFront(net.rpcUrl)
  closers.push(front.close)
  front.answer(async (answer, body) => {
    const headers = { 'content-type': 'application/json' }
    const said = await (await fetch(net.rpcUrl, { method: 'POST', body, headers })).text()
    if (body.includes('eth_sendRawTransaction')) {
      await rename(state, `${state}-away`)
      await writeFile(state, 'no folder')
      front.answer(undefined)
    }
    answer.end(said)
  })
  const payer = payerWith({ mode: 'self-transfer', rpcUrl: front.url })
  const error = await failure(payer.pay(seller.url))
  expect([exitOf(error), error.burnTxHash]).toEqual(['pending', expect.stringMatching(/^0x[0-9a-f]{64}$/)])
  expect(error.message).not.toContain('SVC_STATE_DIR')
  await rm(state)
  await rename(`${state}-away`, state)
  const { payment } = await payer.pay(seller.url)
  expect(payment).toMatchObject({ transaction: error.burnTxHash, isResumed: true })
  expect(await burned()).toBe(1_000n)
})

// The chain's time goes ahead here, so these come last.
it('a refused permit of a pinned foreign helper, which keeps no book, ends by what its burn address has', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const burnAddresses: Address[] = []
  const foreign = async () => {
    const seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer }) => {
      const expiresAt = Math.floor(clock.now() / 1_000) + 300
      if (isPaid && aheadMs > 0 && seller.requests.length > 4) return settle(200, { success: true })
      if (isPaid) return settle(402, { success: false, errorReason: 'challenge_expired' })
      const made = offer({ extra: { helper: net.token, expiresAt, deadline: expiresAt } })
      burnAddresses.push(made.payTo as Address)
      return demand(made)
    })
    closers.push(seller.close)
    return seller
  }
  const [paid, lost] = [await foreign(), await foreign()]
  const payer = payerWith({ clock, allowedHelpers: [net.token] })
  for (const { url } of [paid, lost]) {
    expect((await failure(payer.pay(url))).code).toBe('payment_pending')
    expect((await failure(payer.pay(url))).code).toBe('payment_pending')
  }
  const asPayer = createWalletClient({ account: net.payer, transport: http(net.rpcUrl) })
  const args = [burnAddresses[0] as Address, 1_000n] as const
  const transfer = { address: net.token, abi: tokenAbi, functionName: 'transfer', args } as const
  await net.mined(await asPayer.writeContract({ chain: null, ...transfer }))
  await net.chain.increaseTime(400)
  await net.chain.mine()
  aheadMs = 400_000
  expect((await failure(payer.pay(paid.url))).detail).toContain('this was paid for')
  expect((await payer.pay(lost.url)).response.status).toBe(200)
  expect(burnAddresses).toHaveLength(3)
})
