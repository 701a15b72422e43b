/** Purchases that run: who joins them, and who leaves them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { countSignatures } from '../../test/counting-account.js'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { type Instead, startNodeInFront } from '../../test/node-in-front.js'
import { startPaywall } from '../../test/paywall.js'
import {
  type ApprovalRequest,
  type Approver,
  type CreatePayerOptions,
  createPayer,
  type PayStep,
} from '../index.js'

let net: TestNetwork
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(() => net.close())

type Question = { readonly request: ApprovalRequest; readonly signal: AbortSignal; say(yes: boolean): void }
let questions: Question[]
beforeEach(() => {
  questions = []
})
const approve: Approver = (request, signal) => new Promise((say) => questions.push({ request, signal, say }))

function openPayer(changes: Partial<CreatePayerOptions> = {}) {
  const { account, signed } = countSignatures(net.payer)
  const payer = createPayer({
    account,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
    maxTotal: 'unlimited',
    state: 'memory',
    approveAbove: '1',
    approve,
    ...changes,
  })
  return { payer, signed }
}

async function paywall() {
  const seller = await startPaywall(net)
  closers.push(seller.close)
  return seller
}

it('the same request at once is one question, one signature and one burn, and each caller has the answer', async () => {
  const seller = await paywall()
  const { payer, signed } = openPayer()
  const told: PayStep['step'][] = []
  const first = payer.pay(seller.url)
  await until(() => questions.length === 1)
  const others = [1, 2].map(() => payer.pay(seller.url, {}, { onStep: ({ step }) => told.push(step) }))
  await until(() => told.length === 2)
  questions[0]?.say(true)
  const bought = await Promise.all([first, ...others])
  expect(await Promise.all(bought.map(({ response }) => response.text()))).toEqual(
    Array(3).fill('the resource'),
  )
  expect(bought.map(({ response }) => response.url)).toEqual(Array(3).fill(seller.url))
  expect(bought.map(({ payment }) => payment?.isResumed)).toEqual([false, true, true])
  expect(told).toEqual(['approving', 'approving', 'signing', 'signing', 'presenting', 'presenting'])
  expect([questions.length, signed.typedData, seller.presented.length]).toEqual([1, 2, 1])
})

it('a caller whose listener throws, or that joins at an odd status, costs nobody an answer', async () => {
  const seller = await startHostileSeller(net, ({ isPaid, demand, offer, response }) =>
    isPaid ? response.writeHead(999).end('odd') : demand(offer()),
  )
  closers.push(seller.close)
  const { payer } = openPayer()
  let heard = 0
  const onStep = () => {
    heard += 1
    throw new Error('the listener fails')
  }
  const bought = [payer.pay(seller.url, {}, { onStep })]
  await until(() => questions.length === 1)
  const before = heard
  bought.push(payer.pay(seller.url, {}, { onStep }))
  await until(() => heard > before)
  questions[0]?.say(true)
  const answers = (await Promise.all(bought)).map(({ response, end }) => [response.status, end])
  expect(answers).toEqual(Array(2).fill([999, 'pending']))
})

it('a request with another body or other headers is another purchase', async () => {
  const seller = await paywall()
  const { payer } = openPayer()
  const asks = [
    { method: 'POST', body: 'a' },
    { method: 'POST', body: 'b' },
    { headers: { authorization: 'b' } },
  ]
  const bought = [undefined, ...asks].map((init) => payer.pay(seller.url, init))
  await until(() => questions.length === 4)
  for (const { say } of questions) say(true)
  expect((await Promise.all(bought)).map(({ payment }) => payment?.isResumed)).toEqual(Array(4).fill(false))
  expect(seller.presented).toHaveLength(4)
})

it('a request that costs nothing is made as often as it was asked for', async () => {
  const seller = await startHostileSeller(net, ({ response }) => response.writeHead(200).end('free'))
  closers.push(seller.close)
  const { payer } = openPayer()
  const answers = [1, 2, 3].map(() => payer.pay(seller.url, { method: 'POST', body: 'once more' }))
  const texts = (await Promise.all(answers)).map(({ response }) => response.text())
  expect(await Promise.all(texts)).toEqual(Array(3).fill('free'))
  expect(seller.requests).toHaveLength(3)
})

it('a caller that leaves before the signature ends the purchase unsigned at once, and withdraws its question', async () => {
  const seller = await paywall()
  const { payer, signed } = openPayer()
  const left = new AbortController()
  const purchase = payer.pay(seller.url, { signal: left.signal })
  await until(() => questions.length === 1)
  left.abort(new Error('given up'))
  await expect(purchase).rejects.toThrow('given up')
  expect(questions[0]?.signal.aborted).toBe(true)
  questions[0]?.say(true)
  const next = payer.pay(seller.url)
  await until(() => questions.length === 2)
  expect([signed.typedData, seller.presented.length]).toEqual([0, 0])
  questions[1]?.say(true)
  expect((await next).payment?.isResumed).toBe(false)
  expect([signed.typedData, seller.presented.length]).toEqual([2, 1])
})

it('one of two callers that leaves takes nothing from the other', async () => {
  const seller = await paywall()
  const { payer, signed } = openPayer()
  const left = new AbortController()
  const first = payer.pay(seller.url, { signal: left.signal })
  await until(() => questions.length === 1)
  let joined = false
  const second = payer.pay(seller.url, {}, { onStep: () => (joined = true) })
  await until(() => joined)
  left.abort()
  await expect(first).rejects.toMatchObject({ name: 'AbortError' })
  expect(questions[0]?.signal.aborted).toBe(false)
  questions[0]?.say(true)
  expect((await second).response.status).toBe(200)
  expect([questions.length, signed.typedData, seller.presented.length]).toEqual([1, 2, 1])
})

it('a caller that leaves while its payment waits for the permit nonce has nothing signed, though a human said yes', async () => {
  const silent = await startHostileSeller(net, ({ isPaid, demand, offer }) => isPaid || demand(offer()))
  const seller = await paywall()
  closers.push(silent.close)
  const limits = { nonceHoldMsMax: 1_500, noncePollMs: 10, answerMsMax: 2_000 }
  const { payer, signed } = openPayer({ limits })
  const hung = payer.pay(silent.url).catch(() => undefined)
  await until(() => questions.length === 1)
  questions[0]?.say(true)
  await until(() => signed.typedData === 2)
  const left = new AbortController()
  const purchase = payer.pay(seller.url, { signal: left.signal })
  await until(() => questions.length === 2)
  const asked = () => net.chain.stats().calls.eth_call ?? 0
  const before = asked()
  questions[1]?.say(true)
  await until(() => asked() > before + 2) // it is approved, and asks for its nonce again and again
  left.abort()
  await expect(purchase).rejects.toMatchObject({ name: 'AbortError' })
  // The next one waits for the end of that one, and its own turn comes after it.
  const next = payer.pay(seller.url)
  await until(() => questions.length === 3)
  questions[2]?.say(true)
  expect((await next).response.status).toBe(200)
  expect([signed.typedData, seller.presented.length]).toEqual([4, 1])
  await hung
})

// The chain's time goes ahead here, so this comes last.
it('a caller that leaves while the offer after a lost payment is judged has nothing signed', async () => {
  const state = await mkdtemp(join(tmpdir(), 'svc-pay-left-'))
  const front = await startNodeInFront(net.rpcUrl)
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  let presented = 0
  const seller = await startHostileSeller(net, ({ isPaid, demand, offer, settle }) => {
    const expiresAt = Math.floor(clock.now() / 1_000) + 300
    if (!isPaid) return demand(offer({ extra: { expiresAt, deadline: expiresAt } }))
    presented += 1
    return aheadMs === 0 || presented < 3
      ? settle(402, { success: false, errorReason: 'challenge_expired' })
      : settle(200, { success: true })
  })
  closers.push(seller.close, front.close, () => rm(state, { recursive: true, force: true }))
  const shared = { state, clock }
  const first = openPayer(shared)
  const refused = first.payer.pay(seller.url)
  await until(() => questions.length === 1)
  questions[0]?.say(true)
  await expect(refused).rejects.toMatchObject({ code: 'payment_pending' })
  await net.chain.increaseTime(400)
  await net.chain.mine()
  aheadMs = 400_000

  // The code of the helper is looked at once, so it is another payer that is kept waiting for it.
  const passOn: Instead = async (answer, body) => {
    const headers = { 'content-type': 'application/json' }
    answer.end(await (await fetch(net.rpcUrl, { method: 'POST', body, headers })).text())
  }
  let release = () => undefined as unknown
  let isHeld = false
  const released = new Promise<unknown>((resolve) => (release = () => resolve(undefined)))
  front.answer(async (answer, body, path) => {
    if (body.includes('eth_getCode')) {
      isHeld = true
      await released
    }
    return passOn(answer, body, path)
  })
  const { payer } = openPayer({ ...shared, rpcUrl: front.url })
  const left = new AbortController()
  const purchase = payer.pay(seller.url, { signal: left.signal })
  await until(() => isHeld)
  left.abort()
  await expect(purchase).rejects.toMatchObject({ name: 'AbortError' })
  const next = payer.pay(seller.url)
  release()
  await until(() => questions.length === 2)
  questions[1]?.say(true)
  expect((await next).payment?.isResumed).toBe(false)
  const unpaid = seller.requests.filter(({ headers }) => headers['payment-signature'] === undefined)
  expect([unpaid.length, questions.length]).toEqual([3, 2])
})
