/** A hostile seller can cost a payer with limits one request, and no more. */
import { gzipSync } from 'node:zlib'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { type Behaviour, type Exchange, startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { bytes32, randomHex } from '../../test/offers.js'
import { startPaywall } from '../../test/paywall.js'
import {
  createPayer,
  createPayerScheme,
  deliverPayments,
  type PayerLimits,
  type PayerOptions,
  withSpendControls,
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

type Case = {
  readonly name: string
  readonly behave: Behaviour
  /** The error that the caller gets: a code of the payer, or words of the official client. */
  readonly told: string | RegExp
  /** The code of `createPayer`, where the official client uses its own words. */
  readonly code?: string
  readonly reason?: string
  /** Signatures and tokens of the one payment the caller wanted; nothing without it. */
  readonly wanted?: 'permit' | 'transfer'
  readonly options?: Partial<PayerOptions>
  readonly limits?: Partial<PayerLimits>
  /** Requests that the seller sees; one by default. */
  readonly requests?: number
}

const impatient = { answerMsMax: 200, resourceMsMax: 400 }
const now = () => Math.floor(Date.now() / 1_000)
const zero = `0x${'0'.repeat(40)}`
const bomb = gzipSync(Buffer.alloc(64 * 1_048_576))

/** Sends pieces as fast as they are taken, until the other side hangs up. */
function flood({ response }: Exchange, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers)
  const piece = Buffer.alloc(65_536, 'x')
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

/** Sends one byte now and then, until the other side hangs up. */
function drip({ response }: Exchange, status: number): void {
  response.writeHead(status)
  const timer = setInterval(() => response.write('x'), 20)
  response.on('close', () => clearInterval(timer))
}

const asksFor =
  (changes: Parameters<Exchange['offer']>[0]): Behaviour =>
  ({ offer, demand }) =>
    demand(offer(changes))

/** Demands an ordinary payment and does this with it. */
const takes =
  (behave: Behaviour): Behaviour =>
  (exchange) =>
    exchange.isPaid ? behave(exchange) : exchange.demand(exchange.offer())

const leadsTo =
  (location: string | ((exchange: Exchange) => string), status = 307): Behaviour =>
  (exchange) =>
    exchange.response
      .writeHead(status, { location: typeof location === 'string' ? location : location(exchange) })
      .end()

const offers: Case[] = [
  {
    name: 'names its own account as helper',
    told: 'offer_helper',
    behave: (exchange) => asksFor({ extra: { helper: net.relayer.address } })(exchange),
  },
  {
    name: 'names a contract of its own as helper',
    told: 'offer_helper',
    behave: (exchange) => asksFor({ extra: { helper: net.token } })(exchange),
  },
  {
    name: 'asks for everything, through its own account',
    told: 'offer_amount',
    behave: (exchange) =>
      asksFor({ amount: `${2n ** 248n - 1n}`, extra: { helper: net.relayer.address } })(exchange),
  },
  { name: 'asks for a unit above the cap', told: 'offer_amount', behave: asksFor({ amount: '1001' }) },
  { name: 'asks for nothing', told: 'offer_malformed', behave: asksFor({ amount: '0' }) },
  { name: 'asks for an amount in hex', told: 'offer_malformed', behave: asksFor({ amount: '0x3e8' }) },
  {
    name: 'shows a fee that is more than the amount',
    told: 'offer_malformed',
    behave: asksFor({ extra: { fee: { amount: '1001', bps: 1 } } }),
  },
  {
    name: 'asks for another token',
    told: 'offer_token',
    behave: (exchange) => asksFor({ asset: net.helper })(exchange),
  },
  {
    name: 'wants a signature that stays usable for a year',
    told: 'offer_deadline',
    behave: (exchange) => asksFor({ extra: { deadline: now() + 31_536_000 } })(exchange),
  },
  {
    name: 'wants to be remembered for a century',
    told: 'offer_deadline',
    behave: (exchange) => asksFor({ extra: { expiresAt: now() + 3_000_000_000 } })(exchange),
  },
  { name: 'has no deadline', told: 'offer_deadline', behave: asksFor({ extra: { deadline: undefined } }) },
  {
    name: 'makes offers that have expired, again and again',
    told: 'offer_expired',
    requests: 3,
    behave: asksFor({ extra: { expiresAt: 1 } }),
  },
  {
    name: 'lets a transfer begin that comes too late',
    told: 'offer_expired',
    requests: 3,
    options: { mode: 'self-transfer' },
    behave: (exchange) => asksFor({ extra: { expiresAt: now() + 6 } })(exchange),
  },
  { name: 'wants the burn at address zero', told: 'offer_malformed', behave: asksFor({ payTo: zero }) },
  {
    name: 'has a helper at address zero',
    told: 'offer_malformed',
    behave: asksFor({ extra: { helper: zero } }),
  },
  {
    name: 'has no gasless path',
    told: 'permit_not_offered',
    behave: asksFor({ extra: { helper: undefined } }),
  },
  {
    name: 'speaks version 1',
    told: /x402 version: 1/,
    code: 'not_offered',
    behave: ({ offer, demand }) => demand(offer(), 1),
  },
  {
    name: 'wants to be paid on another chain',
    told: /network/,
    code: 'offer_network',
    behave: asksFor({ network: 'eip155:1' }),
  },
  {
    name: 'offers nothing',
    told: /payment requirements/,
    code: 'not_offered',
    behave: ({ response }) => response.writeHead(402).end(),
  },
  {
    name: 'offers noise',
    told: /payment requirements/,
    code: 'not_offered',
    behave: ({ response }) => response.writeHead(402, { 'payment-required': '%%%' }).end(),
  },
]

const answers: Case[] = [
  { name: 'never answers', told: 'answer_timeout', limits: impatient, behave: () => undefined },
  {
    name: 'stops in the middle of a 402',
    told: 'answer_timeout',
    limits: impatient,
    behave: ({ response }) => response.writeHead(402).write('{'),
  },
  {
    name: 'drips a 402',
    told: 'answer_timeout',
    limits: impatient,
    behave: (exchange) => drip(exchange, 402),
  },
  { name: 'floods with a 402', told: 'answer_too_large', behave: (exchange) => flood(exchange, 402) },
  {
    name: 'sends a 402 that unpacks to a thousand times its size',
    told: 'answer_too_large',
    behave: ({ response }) => response.writeHead(402, { 'content-encoding': 'gzip' }).end(bomb),
  },
  {
    name: 'sends a giant offer in the header',
    told: 'answer_too_large',
    behave: ({ response }) => response.writeHead(402, { 'payment-required': 'A'.repeat(100_000) }).end(),
  },
  {
    name: 'floods with a page that costs nothing',
    told: 'answer_too_large',
    limits: { resourceBytesMax: 2_097_152 },
    behave: (exchange) => flood(exchange, 200),
  },
]

const redirects: Case[] = [
  {
    name: 'redirects to another seller',
    told: 'redirect_refused',
    behave: async (exchange) => leadsTo(await honestUrl())(exchange),
  },
  {
    name: 'redirects to another seller under another name of the same host',
    told: 'redirect_refused',
    behave: async (exchange) => leadsTo((await honestUrl()).replace('127.0.0.1', 'localhost'))(exchange),
  },
  {
    name: 'redirects by way of another origin back to itself',
    told: 'redirect_refused',
    requests: 2,
    behave: async (exchange) =>
      exchange.count === 0
        ? leadsTo(await wayStation(`${exchange.origin}/dear`))(exchange)
        : exchange.demand(exchange.offer()),
  },
  {
    name: 'redirects for ever',
    told: 'redirect_refused',
    requests: 6,
    behave: leadsTo(({ count }) => `/${count}`),
  },
  { name: 'redirects to a file', told: 'redirect_refused', behave: leadsTo('file:///etc/hosts') },
  {
    name: 'redirects to a URL with a password',
    told: 'redirect_refused',
    behave: leadsTo('http://user:secret@127.0.0.1/'),
  },
  {
    name: 'redirects the paid request to another seller',
    told: 'payment_pending',
    wanted: 'permit',
    requests: 2,
    behave: takes(async (exchange) => leadsTo(await honestUrl())(exchange)),
  },
]

const payments: Case[] = [
  {
    name: 'takes the payment and never answers',
    told: 'payment_unanswered',
    wanted: 'permit',
    requests: 2,
    limits: { answerMsMax: 2_000 },
    behave: takes(() => undefined),
  },
  {
    name: 'takes the payment and hangs up',
    told: 'payment_unanswered',
    wanted: 'permit',
    requests: 2,
    behave: takes(({ request }) => request.socket.destroy()),
  },
  {
    name: 'takes the transfer and hangs up',
    told: 'payment_unanswered',
    wanted: 'transfer',
    requests: 2,
    behave: takes(({ request }) => request.socket.destroy()),
  },
  {
    name: 'calls every burn pending',
    told: 'payment_pending',
    reason: 'pending_burn',
    wanted: 'permit',
    requests: 7,
    behave: takes(({ settle }) => settle(402, { success: false, errorReason: 'pending_burn' })),
  },
  {
    name: 'calls the permit nonce stale to get another signature',
    told: 'payment_pending',
    reason: 'permit_nonce_stale',
    wanted: 'permit',
    requests: 2,
    limits: { nonceMoveMsMax: 200, noncePollMs: 20 },
    behave: takes(({ settle }) => settle(402, { success: false, errorReason: 'permit_nonce_stale' })),
  },
  {
    name: 'calls a transfer stale to get another one',
    told: 'payment_refused',
    reason: 'permit_nonce_stale',
    wanted: 'transfer',
    requests: 2,
    behave: takes(({ settle }) => settle(402, { success: false, errorReason: 'permit_nonce_stale' })),
  },
  {
    name: 'says that a transfer was never made',
    told: 'payment_refused',
    reason: 'burn_mismatch',
    wanted: 'transfer',
    requests: 2,
    behave: takes(({ settle }) => settle(402, { success: false, errorReason: 'burn_mismatch' })),
  },
  {
    name: 'answers a payment with another offer',
    told: 'payment_pending',
    wanted: 'permit',
    requests: 2,
    behave: ({ offer, demand }) => demand(offer()),
  },
  {
    name: 'takes the payment and floods',
    told: 'answer_too_large',
    wanted: 'permit',
    requests: 2,
    code: 'answer_half: .*answer_too_large',
    limits: { resourceBytesMax: 2_097_152 },
    behave: takes((exchange) => flood(exchange, 200)),
  },
  {
    name: 'takes the payment and drips',
    told: 'answer_timeout',
    wanted: 'permit',
    requests: 2,
    code: 'answer_half: .*answer_timeout',
    limits: { resourceMsMax: 300 },
    behave: takes((exchange) => drip(exchange, 200)),
  },
  {
    name: 'takes the payment and stops in the middle',
    told: 'answer_timeout',
    wanted: 'permit',
    requests: 2,
    code: 'answer_half: .*answer_timeout',
    limits: { answerMsMax: 2_000 },
    behave: takes(({ response }) => response.writeHead(200).write('half')),
  },
  {
    name: 'takes the payment and sends a bomb',
    told: 'answer_too_large',
    wanted: 'permit',
    requests: 2,
    code: 'answer_half: .*answer_too_large',
    limits: { resourceBytesMax: 2_097_152 },
    behave: takes(({ response }) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)),
  },
]

/** Honest sellers somewhere else; what they were shown is looked at in the end. */
const elsewhere: Awaited<ReturnType<typeof startPaywall>>[] = []
async function honestUrl(): Promise<string> {
  const seller = await startPaywall(net)
  closers.push(seller.close)
  elsewhere.push(seller)
  return seller.url
}

async function wayStation(location: string): Promise<string> {
  const station = await startHostileSeller(net, leadsTo(location))
  closers.push(station.close)
  return station.url
}

function createBuyer({ options, limits }: Pick<Case, 'options' | 'limits'>) {
  const { account, signed } = countSignatures(net.payer)
  const payer = createPayerScheme({
    account,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
    ...options,
    limits: { resendDelayMs: 1, receiptPollMs: 5, ...limits },
  })
  const client = withSpendControls(new x402Client(), 'any').register(net.network, payer)
  return { buy: wrapFetchWithPayment(deliverPayments(fetch, payer), client), signed }
}

/** A buyer with the limits of `createPayer`, which has room for one payment in all. */
function createLimitedBuyer({
  options,
  limits,
}: Pick<Case, 'limits'> & { readonly options?: Case['options'] & { readonly maxTotal?: string } }) {
  const { account, signed } = countSignatures(net.payer)
  const payer = createPayer({
    account,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedHosts: 'any',
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
    maxTotal: '1000',
    state: 'memory',
    ...options,
    limits: { resendDelayMs: 1, receiptPollMs: 5, ...limits },
  })
  return { payer, buy: async (url: string) => (await payer.pay(url)).response, signed }
}

const signatures = {
  none: { typedData: 0, transactions: 0 },
  permit: { typedData: 2, transactions: 0 },
  transfer: { typedData: 0, transactions: 1 },
}

const table = [
  ['offers', offers],
  ['answers', answers],
  ['redirects', redirects],
  ['payments', payments],
] as const

describe.each(table)('a seller that is hostile to a payer with limits, with its %s', (_, cases) => {
  it.each(cases)('$name', async ({ behave, told, code, reason, wanted, options, limits, requests = 1 }) => {
    elsewhere.length = 0
    const seller = await startHostileSeller(net, behave)
    closers.push(seller.close)
    const mode = wanted === 'transfer' ? { mode: 'self-transfer' as const } : {}
    const given = { options: { ...mode, ...options }, ...(limits && { limits }) }
    const { payer, buy, signed } = createLimitedBuyer(given)
    const before = await net.balanceOf(net.payer.address)
    const error = await buy(seller.url)
      .then((response) => response.text())
      .then(
        (text) => expect.fail(`it was served "${text.slice(0, 80)}"`),
        (thrown: Error) => thrown,
      )
    expect(error.message).toMatch(typeof code === 'string' ? new RegExp(code) : told)
    if (reason) expect(error).toMatchObject({ reason })
    expect(signed).toEqual(signatures[wanted ?? 'none'])
    expect(before - (await net.balanceOf(net.payer.address))).toBe(wanted === 'transfer' ? 1000n : 0n)
    expect(seller.requests).toHaveLength(requests)
    expect(elsewhere.flatMap(({ presented }) => presented)).toEqual([])
    // A signature that a seller holds keeps its amount: the next purchase finds no room for it.
    if (wanted === undefined) return
    const honest = await honestUrl()
    await expect(payer.pay(honest)).rejects.toMatchObject({ code: 'total_exceeded' })
    expect(signed).toEqual(signatures[wanted])
  })
})

describe.each(table)('a seller that is hostile with its %s', (_, cases) => {
  it.each(cases)('$name: $told', async ({ behave, told, reason, wanted, options, limits, requests = 1 }) => {
    elsewhere.length = 0
    const seller = await startHostileSeller(net, behave)
    closers.push(seller.close)
    const mode = wanted === 'transfer' ? { mode: 'self-transfer' as const } : {}
    const { buy, signed } = createBuyer({ options: { ...mode, ...options }, ...(limits && { limits }) })
    const before = await net.balanceOf(net.payer.address)
    const error = await buy(seller.url)
      .then((response) => response.text())
      .then(
        (text) => expect.fail(`it was served "${text.slice(0, 80)}"`),
        (thrown: Error) => thrown,
      )
    expect(error.message).toMatch(told)
    if (reason) expect(error).toMatchObject({ reason })
    expect(signed).toEqual(signatures[wanted ?? 'none'])
    const spent = before - (await net.balanceOf(net.payer.address))
    expect(spent).toBe(wanted === 'transfer' ? 1000n : 0n)
    expect(seller.requests).toHaveLength(requests)
    expect(elsewhere.flatMap(({ presented }) => presented)).toEqual([])
  })
})

describe('a seller that is hostile over several purchases', () => {
  it('gets no signature for other terms under a challenge that was paid', async () => {
    const payTo = randomHex(20)
    const seller = await startHostileSeller(net, ({ isPaid, response, demand, offer, count }) =>
      isPaid
        ? response.writeHead(200).end('the resource')
        : demand(
            offer({ payTo: count === 0 ? payTo : randomHex(20), extra: { challengeNonce: bytes32(7) } }),
          ),
    )
    closers.push(seller.close)
    const { buy, signed } = createBuyer({})
    expect((await buy(seller.url)).status).toBe(200)
    await expect(buy(seller.url)).rejects.toThrow(/offer_changed/)
    expect(signed).toEqual(signatures.permit)
  })

  it('cannot have one request approved and another one paid, while the human thinks or afterwards', async () => {
    const fixed = { payTo: randomHex(20), extra: { challengeNonce: randomHex(32) } }
    const seller = await startHostileSeller(net, ({ isPaid, response, demand, offer }) => {
      if (isPaid) return response.writeHead(200).end('the resource')
      made ??= offer(fixed)
      return demand(made)
    })
    let made: ReturnType<Exchange['offer']> | undefined
    closers.push(seller.close)
    const wire = new URL('/wire', seller.url).href
    const wired: Promise<unknown>[] = []
    const asked: string[] = []
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
      async approve({ url }) {
        asked.push(url)
        wired.push(payer.pay(wire, { method: 'POST', body: 'all of it' }).catch((error) => error))
        await wired[0]
        return true
      },
    })
    expect((await payer.pay(seller.url)).response.status).toBe(200)
    wired.push(payer.pay(wire, { method: 'POST', body: 'all of it' }).catch((error) => error))
    expect(await Promise.all(wired)).toMatchObject(Array(2).fill({ code: 'offer_changed' }))
    expect([asked, signed]).toEqual([[seller.url], signatures.permit])
    const paid = seller.requests.filter(({ headers }) => headers['payment-signature'])
    expect(paid.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /thing'])
  })

  it('cannot keep the account from honest sellers by lying about a burn', async () => {
    const liar = await startHostileSeller(
      net,
      takes(({ settle }) => settle(200, { success: true, transaction: randomHex(32) })),
    )
    const seller = await startPaywall(net)
    closers.push(liar.close, seller.close)
    const { buy } = createBuyer({})
    expect((await buy(liar.url)).status).toBe(200)
    expect((await buy(seller.url)).status).toBe(200)
  })

  it.each([402, 500, 503])(
    'gets one signature, however often it answers %i with a receipt',
    async (status) => {
      const seller = await startHostileSeller(
        net,
        takes(({ settle }) => settle(status, { success: true, transaction: randomHex(32) })),
      )
      closers.push(seller.close)
      const limits = { burnSearchMsMax: 0 }
      const { buy, signed } = createBuyer({ limits })
      const { payer, signed: signedByOurs } = createLimitedBuyer({ limits, options: { maxTotal: '5000' } })
      const told = status === 402 ? { code: 'payment_pending' } : { end: 'pending' }
      for (let tries = 0; tries < 3; tries += 1) {
        await buy(seller.url).catch((error) => expect(error).toMatchObject({ code: 'payment_pending' }))
        expect(await payer.pay(seller.url).catch((error) => error)).toMatchObject(told)
      }
      expect([signed, signedByOurs]).toEqual([signatures.permit, signatures.permit])
      const presented = seller.requests.map(({ headers }) => headers['payment-signature']).filter(Boolean)
      expect([presented.length, new Set(presented).size]).toEqual([6, 2])
    },
  )

  it('cannot hold the permit nonce by payments it never answers', async () => {
    const silent = await startHostileSeller(
      net,
      takes(() => undefined),
    )
    const seller = await startPaywall(net)
    closers.push(silent.close, seller.close)
    const limits = { nonceHoldMsMax: 500, contestedHoldMsMax: 50, noncePollMs: 10 }
    const { buy, signed } = createBuyer({ limits })
    const hung = [1, 2, 3].map((n) => buy(`${silent.url}?${n}`).catch(() => undefined))
    while (signed.typedData === 0) await new Promise(setImmediate)
    const response = await buy(seller.url)
    expect(response.status).toBe(200)
    closers.push(() => Promise.all(hung))
  })
})
