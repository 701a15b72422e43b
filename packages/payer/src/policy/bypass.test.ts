/**
 * Ways around the limits, and that there are none. The chain is not there: a payment that all rules allow fails with
 * `chain_unavailable`, right before it would be signed.
 */
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { type Behaviour, startHostileSeller } from '../../test/hostile-seller.js'
import type { TestNetwork } from '../../test/network.js'
import { address, bytes32 } from '../../test/offers.js'
import {
  type ApprovalRequest,
  type Approver,
  type CreatePayerOptions,
  createPayer,
  type Payer,
  type PayerLimits,
  type PayOptions,
} from '../index.js'
import { defaultLimits } from '../limits.js'
import { openState } from '../state/open-state.js'

const network = { network: 'eip155:31337', token: address(1), helper: address(3) } as unknown as TestNetwork
const deadRpc = 'http://127.0.0.1:9'
const key = generatePrivateKey()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

let seller: Awaited<ReturnType<typeof startHostileSeller>>
let behave: Behaviour
let state: string
beforeAll(async () => {
  seller = await startHostileSeller(network, (exchange) => behave(exchange))
})
afterAll(() => seller.close())
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-bypass-'))
  seller.requests.length = 0
})
afterEach(() => rm(state, { recursive: true, force: true }))

const asks =
  (changes: Parameters<Parameters<Behaviour>[0]['offer']>[0] = {}): Behaviour =>
  ({ offer, demand }) =>
    demand(offer(changes))
const leadsTo =
  (location: () => string): Behaviour =>
  ({ response }) =>
    response.writeHead(307, { location: location() }).end()
const port = () => new URL(seller.url).port

const optionsOf = (changes: Partial<CreatePayerOptions> = {}): CreatePayerOptions => ({
  account: privateKeyToAccount(key),
  rpcUrl: deadRpc,
  network: 'eip155:31337',
  allowedHosts: ['127.0.0.1'],
  allowedTokens: [address(1)],
  allowedHelpers: [address(3)],
  maxAmountPerPayment: '1000',
  maxTotal: '5000',
  state,
  ...changes,
})

/** Puts an amount into the totals of the state folder, spent at a host and route of the seller. */
async function spent(
  amount: string,
  host = '127.0.0.1',
  route = `GET ${seller.url}`,
  hour = Math.floor(Date.now() / 3_600_000),
) {
  const { totals } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
  const nonce = bytes32(Math.floor(Math.random() * 1e9)) as never
  const pair = `eip155:31337/${address(1)}`
  const reservation = {
    owner: 'o',
    terms: 't',
    addresses: [],
    pair,
    host,
    route,
    amount,
    hour,
    way: 'permit' as const,
    token: address(1),
    payTo: address(2),
    helper: address(3),
    payer: address(4),
    expiresAt: 1,
    deadline: 1,
  }
  await totals.reserve(nonce, reservation, [])
  await totals.sign(nonce, reservation, [], false)
  await totals.spend(nonce)
}

async function attempt(options: CreatePayerOptions, url = seller.url, pay: PayOptions = {}) {
  const { account, signed } = countSignatures(options.account ?? privateKeyToAccount(key))
  const error = await createPayer({ ...options, account })
    .pay(url, undefined, pay)
    .then(
      () => ({ code: 'paid' }),
      (thrown) => thrown as { code: string; message: string },
    )
  expect(signed).toEqual({ typedData: 0, transactions: 0 })
  return error
}

type Case = {
  readonly name: string
  readonly code: string
  readonly behave?: Behaviour
  readonly options?: Partial<CreatePayerOptions>
  readonly before?: () => Promise<unknown>
  readonly url?: () => string
  readonly pay?: PayOptions
  readonly requests?: number
}

const hosts: Case[] = [
  {
    name: 'R-094 a host that is not allowed',
    code: 'host_refused',
    options: { allowedHosts: ['shop.example'] },
    requests: 0,
  },
  { name: 'R-094 no host at all', code: 'host_refused', options: { allowedHosts: [] }, requests: 0 },
  {
    name: 'R-094 another name of this machine',
    code: 'host_refused',
    url: () => seller.url.replace('127.0.0.1', 'localhost'),
    requests: 0,
  },
  {
    name: 'R-094 another address of this machine',
    code: 'host_refused',
    url: () => seller.url.replace('127.0.0.1', '127.0.0.2'),
    requests: 0,
  },
  {
    name: 'R-094 IPv6 of an IPv4 address',
    code: 'host_refused',
    url: () => seller.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
    requests: 0,
  },
  {
    name: 'R-094 another port than the one allowed',
    code: 'host_refused',
    options: { allowedHosts: ['127.0.0.1:1'] },
    requests: 0,
  },
  {
    name: 'R-094 a redirect to another host, which is not followed there',
    code: 'host_refused',
    behave: leadsTo(() => `http://localhost:${port()}/x`),
    requests: 1,
  },
  {
    name: 'R-094 a redirect to another host by a name before an @',
    code: 'redirect_refused',
    behave: leadsTo(() => `http://127.0.0.1@localhost:${port()}/x`),
    requests: 1,
  },
  {
    name: 'R-094 a redirect to a file',
    code: 'redirect_refused',
    behave: leadsTo(() => 'file:///etc/passwd'),
    requests: 1,
  },
  {
    name: 'R-094 a redirect without a scheme',
    code: 'host_refused',
    behave: leadsTo(() => `//localhost:${port()}/x`),
    requests: 1,
  },
]

const pins: Case[] = [
  { name: 'R-095 another network', code: 'offer_network', behave: asks({ network: 'eip155:1' }) },
  { name: 'R-096 another token', code: 'offer_token', behave: asks({ asset: address(9) }) },
  { name: 'another helper', code: 'offer_helper', behave: asks({ extra: { helper: address(9) } }) },
  {
    name: 'another scheme only',
    code: 'not_offered',
    behave: ({ demand }) => demand({ scheme: 'exact', network: 'eip155:31337' }),
  },
  {
    name: 'R-018 an offer that has expired',
    code: 'offer_expired',
    behave: asks({ extra: { expiresAt: 1 } }),
    requests: 3,
  },
  {
    name: 'a signature that stays good for two days',
    code: 'offer_deadline',
    behave: asks({ extra: { deadline: Math.floor(Date.now() / 1_000) + 172_800 } }),
  },
]

const caps: Case[] = [
  {
    name: 'R-097 one unit above the cap of one payment',
    code: 'offer_amount',
    behave: asks({ amount: '1001' }),
  },
  {
    name: 'R-097 an amount of 2^248 - 1',
    code: 'offer_amount',
    behave: asks({ amount: `${2n ** 248n - 1n}` }),
  },
  { name: 'a lower cap for this payment', code: 'offer_amount', pay: { max: 999n as never } },
  {
    name: 'a higher cap for this payment, which raises nothing',
    code: 'offer_amount',
    behave: asks({ amount: '1001' }),
    pay: { max: 9_999n as never },
  },
  { name: 'R-098 one unit above the total', code: 'total_exceeded', before: () => spent('4001') },
  { name: 'R-098 the total when it is zero', code: 'total_exceeded', options: { maxTotal: '0' } },
  {
    name: 'the total, spent at other hosts',
    code: 'total_exceeded',
    before: () => spent('4500', 'shop.example'),
  },
  {
    name: 'one unit above the cap of a host',
    code: 'host_total_exceeded',
    options: { maxPerHost: '1500' },
    before: () => spent('501'),
  },
  {
    name: 'the cap of a host at its other ports',
    code: 'host_total_exceeded',
    options: { maxPerHost: '1500' },
    before: () => spent('501', '127.0.0.1', 'GET http://127.0.0.1:1/x'),
  },
  {
    name: 'the cap of a host under another of its names',
    code: 'host_total_exceeded',
    options: { maxPerHost: '1500', allowedHosts: ['localhost'] },
    before: () => spent('501'),
    url: () => seller.url.replace('127.0.0.1', 'localhost'),
  },
  {
    name: 'one unit above the cap of a day',
    code: 'day_total_exceeded',
    options: { maxPerDay: '1500' },
    before: () => spent('501'),
  },
  {
    name: 'the cap of a day, right after midnight',
    code: 'day_total_exceeded',
    options: { maxPerDay: '1500' },
    before: () => spent('501', undefined, undefined, Math.floor(Date.now() / 3_600_000) - 24),
  },
]

const answering =
  (answer: unknown): Approver =>
  async () =>
    answer as boolean
const approvals: Case[] = [
  {
    name: 'R-099 an amount above the threshold with nobody to ask',
    code: 'not_approved',
    options: { approveAbove: '999' },
  },
  { name: 'R-099 a no', code: 'not_approved', options: { approveAbove: '999', approve: answering(false) } },
  {
    name: 'an answer that is no yes',
    code: 'not_approved',
    options: { approveAbove: '999', approve: answering('yes') },
  },
  {
    name: 'an object for an answer',
    code: 'not_approved',
    options: { approveAbove: '999', approve: answering({}) },
  },
  {
    name: 'an approver that fails',
    code: 'not_approved',
    options: { approveAbove: '999', approve: () => Promise.reject(new Error('no terminal')) },
  },
  {
    name: 'R-100 silence',
    code: 'not_approved',
    options: { approveAbove: '999', approvalTimeoutMs: 20, approve: () => new Promise(() => undefined) },
  },
  {
    name: 'a yes that comes after the offer has expired',
    code: 'offer_expired',
    // An offer that is nearly over when it is read would be asked for again.
    behave: (exchange) => asks({ extra: { expiresAt: Math.floor(Date.now() / 1_000) + 8 } })(exchange),
    options: {
      approveAbove: '999',
      approve: async (_, signal) => {
        await systemClock.sleep(8_100, signal)
        return true
      },
    },
  },
  {
    name: 'a price that rose by more than allowed',
    code: 'not_approved',
    options: { priceRisePercent: 25 },
    before: () => spent('799'),
  },
  {
    name: 'a price that rose in small steps',
    code: 'not_approved',
    options: { priceRisePercent: 25 },
    before: async () => {
      for (const price of ['700', '800', '850']) await spent(price)
    },
  },
]

describe.each([
  ['hosts', hosts],
  ['pins', pins],
  ['caps', caps],
  ['approval', approvals],
])('nothing is signed beyond the limits of %s', (_, cases) => {
  it.each(cases)(
    '$name',
    async ({ code, behave: how = asks(), options, before, url = () => seller.url, pay, requests }) => {
      behave = how
      await before?.()
      const error = await attempt(optionsOf(options), url(), pay)
      expect(error).toMatchObject({ code })
      expect(seller.requests).toHaveLength(requests ?? 1)
      // A refused payment reserves no money.
      const { totals } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
      expect((await totals.state()).reservations).toEqual({})
    },
  )
})

describe('up to the limits a payment goes on to the chain', () => {
  const passing: Case[] = [
    {
      name: 'R-094 any host where all are allowed',
      code: '',
      options: { allowedHosts: 'any' },
      url: () => seller.url.replace('127.0.0.1', 'localhost'),
    },
    { name: 'R-097 the very cap of one payment', code: '' },
    { name: 'R-098 the very total', code: '', before: () => spent('4000') },
    { name: 'the very cap of a host', code: '', options: { maxPerHost: '1500' }, before: () => spent('500') },
    {
      name: 'what was spent at another host',
      code: '',
      options: { maxPerHost: '1500' },
      before: () => spent('1500', 'shop.example'),
    },
    { name: 'the very cap of a day', code: '', options: { maxPerDay: '1500' }, before: () => spent('500') },
    {
      name: 'what was spent the day before yesterday',
      code: '',
      options: { maxPerDay: '1500' },
      before: () => spent('1500', undefined, undefined, Math.floor(Date.now() / 3_600_000) - 25),
    },
    {
      name: 'R-099 the very threshold, where nobody is asked',
      code: '',
      options: { approveAbove: '1000', approve: answering(false) },
    },
    { name: 'R-099 a yes', code: '', options: { approveAbove: '999', approve: answering(true) } },
    {
      name: 'R-099 a higher price below the threshold, where only the amount is asked about',
      code: '',
      options: { approveAbove: '1000', approve: answering(false) },
      before: () => spent('100'),
    },
    {
      name: 'a price that rose a little',
      code: '',
      options: { priceRisePercent: 25 },
      before: () => spent('800'),
    },
    {
      name: 'a price that is higher on another route',
      code: '',
      options: { priceRisePercent: 25 },
      before: () => spent('100', undefined, 'GET http://127.0.0.1/other'),
    },
  ]
  it.each(passing)('$name', async ({ options, before, url = () => seller.url }) => {
    behave = asks()
    await before?.()
    // Without a pinned helper the code of the helper is looked at first, on the chain that is not there.
    const { allowedHelpers: _, ...unpinned } = optionsOf(options)
    expect(await attempt(unpinned, url())).toMatchObject({ code: 'chain_unavailable' })
  })
})

describe('what a human is asked', () => {
  it('R-099 says host, path, amount, fee, what is left, and is bound to what will be signed', async () => {
    behave = asks({ extra: { fee: { amount: '7', bps: 70 } } })
    await spent('1500')
    const asked: unknown[] = []
    const approve: Approver = async (request) => asked.push(request) < 0
    await attempt(optionsOf({ approveAbove: '10', approve }))
    await attempt(optionsOf({ approveAbove: '10', approve }))
    expect(asked[0]).toMatchObject({
      host: `127.0.0.1:${port()}`,
      url: seller.url,
      body: 'none',
      method: 'GET',
      amount: '1000',
      fee: '7',
      remaining: '2500',
      network: 'eip155:31337',
      token: address(1),
      terms: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const [first, second] = asked as { terms: string }[]
    expect(first?.terms).not.toBe(second?.terms)
  })

  it('says port, query, and how the body of the request begins, with its hash', async () => {
    behave = asks()
    const asked: ApprovalRequest[] = []
    const approve: Approver = async (request) => asked.push(request) < 0
    const body = `${'a'.repeat(80)}`
    const short = `${seller.url}?to=elsewhere&${'q'.repeat(1_900)}`
    const long = `${short}${'q'.repeat(1_900)}`
    const payer = createPayer(optionsOf({ approveAbove: '10', approve }))
    for (const url of [short, long]) {
      await expect(payer.pay(url, { method: 'POST', body })).rejects.toMatchObject({ code: 'not_approved' })
    }
    expect(asked[0]).toMatchObject({ host: `127.0.0.1:${port()}`, method: 'POST', url: short })
    const rest = long.length - 2_048
    expect(asked[1]?.url).toBe(`${long.slice(0, 2_048)} and ${rest} more characters, sha256 ${sha256(long)}`)
    expect(asked[0]?.body).toBe(`80 bytes, "${'a'.repeat(64)}"…, sha256 ${sha256(body)}`)
  })

  it('says what was asked for, where a redirect led from there', async () => {
    behave = (exchange) =>
      exchange.request.url === '/old' ? leadsTo(() => '/new')(exchange) : asks()(exchange)
    const asked: ApprovalRequest[] = []
    const approve: Approver = async (request) => asked.push(request) < 0
    const { origin } = new URL(seller.url)
    const payment = createPayer(optionsOf({ approveAbove: '10', approve })).pay(`${origin}/old#top`)
    await expect(payment).rejects.toMatchObject({ code: 'not_approved' })
    expect(asked[0]).toMatchObject({ method: 'GET', url: `${origin}/new`, askedAs: `GET ${origin}/old` })
  })
})

describe('a yes', () => {
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  let aheadMs = 0
  let asked: ApprovalRequest[]
  beforeEach(() => {
    aheadMs = 0
    asked = []
    const { origin } = new URL(seller.url)
    const challenge = { expiresAt: Math.floor(Date.now() / 1_000) + 300, challengeNonce: bytes32(7) }
    const extra = { ...challenge, deadline: challenge.expiresAt }
    const again = asks({ payTo: address(2), extra })
    behave = (exchange) => (exchange.request.url === '/other' ? asks()(exchange) : again(exchange))
    innocent = `${origin}/innocent`
    other = `${origin}/other`
  })
  let innocent: string
  let other: string
  const payerWith = (limits: Partial<PayerLimits> = {}) => {
    const approve: Approver = async (request) => asked.push(request) > 0
    return createPayer(optionsOf({ approveAbove: '10', approve, clock, limits }))
  }
  const pay = (payer: Payer, url: string, init?: RequestInit) =>
    payer.pay(url, init).catch((error: { code: string }) => error.code)

  it.each<[string, (origin: string) => [string, RequestInit?]]>([
    ['path', (origin) => [`${origin}/wire`]],
    ['host', () => [innocent.replace('127.0.0.1', 'localhost')]],
    ['method', () => [innocent, { method: 'DELETE' }]],
    ['body', () => [innocent, { method: 'POST', body: 'wire it all' }]],
  ])('to one request is none to another %s with the same offer', async (_, another) => {
    const hosts = { allowedHosts: ['127.0.0.1', 'localhost'] }
    const approve: Approver = async (request) => asked.push(request) > 0
    // A payer that remembers one offer has forgotten where the first came from.
    for (const offersSeenMax of [1_000, 1]) {
      asked = []
      const limits = { offersSeenMax }
      const payer = createPayer(optionsOf({ ...hosts, approveAbove: '10', approve, limits }))
      const [url, init] = another(new URL(innocent).origin)
      expect(await pay(payer, innocent)).toBe('chain_unavailable')
      expect(asked.map((each) => each.url)).toEqual([innocent])
      await pay(payer, other)
      const code = await pay(payer, url, init)
      const told = offersSeenMax === 1 ? ['chain_unavailable', 3] : ['offer_changed', 2]
      expect([code, asked.length]).toEqual(told)
    }
  })

  it('counts for its time and no longer', async () => {
    const payer = payerWith({ approvalMsMax: 100_000 })
    for (const [ahead, times] of [
      [0, 1],
      [50_000, 1],
      [150_000, 2],
      [-3_600_000, 3],
    ] as const) {
      aheadMs = ahead
      expect(await pay(payer, innocent)).toBe('chain_unavailable')
      expect(asked).toHaveLength(times)
    }
  })

  it('that is too old by the time of the signature signs nothing', async () => {
    const { scheme, quote } = payerWith({ approvalMsMax: 10_000 })
    const [offered] = (await quote(innocent)).offers
    if (!offered) throw new Error('nothing was offered')
    const target = { method: 'GET', url: innocent }
    const facts = { asked: target, target, body: 'none' as const, way: 'permit' as const, bounds: {} }
    const permission = await scheme.guard.permit({ ...offered, ...facts })
    aheadMs = 9_000
    await scheme.guard.signing(permission, {})
    aheadMs = 11_000
    await expect(scheme.guard.signing(permission, {})).rejects.toMatchObject({ code: 'not_approved' })
  })
})

it('a payment that was signed before is not told to be refused before anything was signed', async () => {
  behave = asks()
  const { offers } = await createPayer(optionsOf()).quote(seller.url)
  const [{ accepted, offer } = expect.fail('nothing was offered')] = offers
  const { memory } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
  const { challengeNonce } = offer
  const target = { method: 'GET', url: seller.url }
  const request = `GET ${seller.url}`
  const outrun = { delivery: 'undelivered', resends: 0, outrunNonce: '1', resigns: 1 } as const
  await memory.update(challengeNonce, () => ({ challengeNonce, accepted, request, target, ...outrun }))
  expect(await attempt(optionsOf({ maxAmountPerPayment: '999' }))).toMatchObject({
    code: 'payment_pending',
    rule: { rule: 'per-payment' },
  })
})

it('a request that carries a payment already is refused before it leaves', async () => {
  const headers = { 'PAYMENT-SIGNATURE': 'e30=' }
  const payment = createPayer(optionsOf()).pay(seller.url, { headers })
  await expect(payment).rejects.toMatchObject({ code: 'payer_misconfigured' })
  expect(seller.requests).toHaveLength(0)
})

it('keeps its folder for its owner alone', async () => {
  behave = asks()
  await attempt(optionsOf({ maxTotal: '0', state: join(state, 'own') }))
  const { stat } = await import('node:fs/promises')
  expect((await stat(join(state, 'own'))).mode & 0o777).toBe(0o700)
  for (const name of await readdir(join(state, 'own'))) {
    expect((await stat(join(state, 'own', name))).mode & 0o077, name).toBe(0)
  }
})
