import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type Answer,
  accepted,
  challengeFor,
  helper,
  inOrder,
  refused,
  startFacilitator,
  type TestFacilitator,
  token,
} from '../../test/facilitator.js'
import { offerOf, openShop, paymentFor, required, type Shop, schemeFor } from '../../test/shop.js'
import type { FacilitatorFailure, SvcSchemeOptions } from '../index.js'

let facilitator: TestFacilitator
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  facilitator = await startFacilitator()
})
afterEach(async () => {
  facilitator.reset()
  await Promise.all(opened.splice(0).map((each) => each.close()))
})
afterAll(() => facilitator.close())

async function open(
  options: Partial<SvcSchemeOptions> = {},
  url: SvcSchemeOptions['facilitatorUrl'] = facilitator.url,
) {
  const problems: FacilitatorFailure[] = []
  const svc = schemeFor(url, { onProblem: (failure) => problems.push(failure), ...options })
  const shop: Shop = await openShop(svc, { 'GET /x': { accepts: svc.accept({ price: '100' }) } })
  opened.push(shop)
  return { shop, problems }
}

/** A free port where nobody listens yet. */
async function freePort(): Promise<number> {
  const passing = await startFacilitator()
  await passing.close()
  return passing.port
}

describe('a facilitator that is not there when the seller starts', () => {
  it('gives 502 without payment headers, and is used as soon as it comes up', async () => {
    const port = await freePort()
    const { shop, problems } = await open({}, `http://127.0.0.1:${port}`)
    for (let i = 0; i < 2; i++) {
      const response = await shop.get('/x')
      expect(response.status).toBe(502)
      expect(response.headers.has('payment-required')).toBe(false)
      const text = await response.text()
      expect(text).toContain('the facilitator gave no answer to supported')
      expect(text).not.toContain(String(port))
    }
    expect(problems.length).toBeGreaterThan(0)
    const late = await startFacilitator(port)
    opened.push(late)
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    expect((await shop.get('/x', payment)).status).toBe(200)
  })

  it('is named with its address once an outage, to the seller alone', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const port = await freePort()
    const { shop } = await open({}, `http://user:hunter2@127.0.0.1:${port}`)
    for (let i = 0; i < 3; i++) expect(await (await shop.get('/x')).text()).not.toContain(`${port}`)
    const named = () => warned.mock.calls.filter(([line]) => String(line).includes('gives no answer; is it'))
    expect(named()).toEqual([[`the facilitator at http://127.0.0.1:${port} gives no answer; is it running?`]])
    warned.mockRestore()
  })

  it('may also answer nonsense first', async () => {
    const answers: Answer[] = [{ status: 503, body: { error: 'starting' } }, { body: { kinds: 7 } }]
    facilitator.script.supported = () => answers[0] as Answer
    const { shop } = await open()
    expect((await shop.get('/x')).status).toBe(502)
    facilitator.script.supported = () => answers[1] as Answer
    expect((await shop.get('/x')).status).toBe(502)
    facilitator.reset()
    expect((await shop.get('/x')).status).toBe(402)
  })
})

describe('what the facilitator says when it issues nothing', () => {
  it('reaches the seller and whoever asked: reason, words and how long to wait', async () => {
    const { shop, problems } = await open()
    facilitator.script.challenge = () => ({
      status: 503,
      headers: { 'retry-after': '17' },
      body: { error: 'Paused by the operator: moving\nto a new relayer.', reason: 'issuance_paused' },
    })
    const response = await shop.get('/x')
    expect(response.status).toBe(502)
    const { error } = await response.json()
    expect(error).toContain('issuance_paused: Paused by the operator: moving to a new relayer.')
    expect(problems).toEqual([
      expect.objectContaining({ message: error, reason: 'issuance_paused', retryAfterSeconds: 17 }),
    ])
  })

  it('names both tokens, and both networks, when seller and facilitator do not fit', async () => {
    const { shop, problems } = await open()
    facilitator.script.challenge = (call) => ({ body: { ...challengeFor(call), token: helper } })
    const wrongToken = await (await shop.get('/x')).json()
    expect(wrongToken.error.toLowerCase()).toContain(helper.toLowerCase())
    expect(wrongToken.error.toLowerCase()).toContain(token.toLowerCase())
    facilitator.script.challenge = (call) => ({ body: { ...challengeFor(call), chainId: 1 } })
    expect((await (await shop.get('/x')).json()).error).toMatch(/eip155:1, .*eip155:31337/)
    expect(problems).toHaveLength(2)
  })

  it('is not read for ever: an answer without end is none', async () => {
    const { shop } = await open()
    facilitator.script.challenge = () => ({ body: { error: 'x'.repeat(70_000) } })
    expect((await shop.get('/x')).status).toBe(502)
  })

  it('about a verify it could not make is no verdict on the payment', async () => {
    const { shop } = await open()
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    for (const status of [429, 503]) {
      const body = { isValid: false, invalidReason: 'chain_unavailable', invalidMessage: 'no chain' }
      facilitator.script.verify = () => ({ status, body })
      const response = await shop.get('/x', payment)
      expect(response.status).toBe(502)
      expect((await response.json()).error).toContain('chain_unavailable: no chain')
    }
    facilitator.reset()
    expect((await shop.get('/x', payment)).status).toBe(200)
  })
})

describe('a log of the seller that fails', () => {
  it.each([
    ['throws', () => raise('the log is full')],
    ['rejects', async () => raise('the log is full')],
  ])('changes nothing for the payer when it %s', async (_, onProblem) => {
    const { shop } = await open({ onProblem, limits: { recoveryPausesMs: [] } })
    facilitator.script.challenge = () => 'drop'
    const unpaid = await shop.get('/x')
    expect(unpaid.status).toBe(502)
    expect(await unpaid.text()).not.toContain('the log is full')
    facilitator.reset()
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    facilitator.script.settle = () => 'drop'
    const unknown = await shop.get('/x', payment)
    expect(unknown.status).toBe(502)
    expect(await unknown.text()).not.toContain('the log is full')
  })
})

const raise = (message: string): never => {
  throw new Error(message)
}

describe('a facilitator that is overloaded', () => {
  const overloaded = (retryAfter: string, body: object): Answer => ({
    status: 503,
    headers: { 'retry-after': retryAfter },
    body,
  })
  const invalid = { isValid: false, invalidReason: 'overloaded', invalidMessage: 'busy' }

  /** Whatever is slept is noted, and takes no time. */
  async function openSleepless(limits: SvcSchemeOptions['limits'] = {}) {
    const slept: number[] = []
    let movedMs = 0
    const clock = {
      now: () => Date.now() + movedMs,
      async sleep(ms: number) {
        slept.push(ms)
        movedMs += ms
      },
    }
    return { ...(await open({ clock, limits })), slept }
  }

  it('is asked for a payment again when it says so, and the payer gets the resource', async () => {
    const { shop, slept } = await openSleepless()
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    facilitator.script.verify = inOrder(overloaded('2', invalid), { body: { isValid: true } })
    facilitator.script.settle = inOrder(
      overloaded('3', refused('overloaded')),
      overloaded('1', { error: 'busy', reason: 'overloaded' }),
      { body: accepted },
    )
    expect((await shop.get('/x', payment)).status).toBe(200)
    expect(slept).toEqual([2_000, 3_000, 1_000])
    expect(facilitator.counts()).toMatchObject({ verify: 2, settle: 3, payments: 0 })
  })

  it('is not waited for beyond the time of a call, and the payment is as good later', async () => {
    const { shop, slept, problems } = await openSleepless()
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    facilitator.script.verify = () => overloaded('30', invalid)
    expect((await shop.get('/x', payment)).status).toBe(502)
    expect(problems).toMatchObject([{ reason: 'overloaded', retryAfterSeconds: 30 }])
    expect(slept).toEqual([])
    facilitator.reset()
    expect((await shop.get('/x', payment)).status).toBe(200)
  })

  it('makes nobody wait who has paid nothing yet', async () => {
    const { shop, slept, problems } = await openSleepless()
    facilitator.script.challenge = () => overloaded('1', { error: 'busy', reason: 'overloaded' })
    expect((await shop.get('/x')).status).toBe(502)
    expect(problems).toMatchObject([{ reason: 'overloaded', retryAfterSeconds: 1 }])
    expect(slept).toEqual([])
    expect(facilitator.counts().challenge).toBe(1)
  })
})

describe('a facilitator of several daemons, of which one is active', () => {
  const standby = { error: 'another is active', reason: 'standby' }
  const is = (body: object): Answer => ({ status: 503, headers: { 'retry-after': '1' }, body })
  const standsBy = ({ script }: TestFacilitator) =>
    Object.assign(script, {
      challenge: () => is(standby),
      verify: () => is({ isValid: false, invalidReason: 'standby' }),
      settle: () => is(refused('standby')),
      payments: () => is(standby),
    })

  async function openPair() {
    const other = await startFacilitator()
    opened.push(other)
    return { other, ...(await open({}, [facilitator.url, other.url])) }
  }

  it('is found where another one stands by, and remembered', async () => {
    const { other, shop } = await openPair()
    standsBy(facilitator)
    for (let i = 0; i < 3; i++) {
      const payment = paymentFor(offerOf(required(await shop.get('/x'))))
      expect((await shop.get('/x', payment)).status).toBe(200)
    }
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    expect(other.counts()).toMatchObject({ challenge: 3, verify: 3, settle: 3 })
  })

  it('is found where another one takes no connection, and found again when it comes back', async () => {
    const { other, shop } = await openPair()
    const { port } = other
    standsBy(facilitator)
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    await other.close()
    facilitator.reset()
    expect((await shop.get('/x', payment)).status).toBe(200)
    const again = await startFacilitator(port)
    opened.push(again)
    standsBy(facilitator)
    expect((await shop.get('/x')).status).toBe(402)
    expect(again.counts().challenge).toBe(1)
  })

  it('is waited for while none is active, and an unpaid request is worth that, too', async () => {
    const { other, shop, problems } = await openPair()
    const unpaid = paymentFor(offerOf(required(await shop.get('/x'))))
    standsBy(facilitator)
    standsBy(other)
    setTimeout(other.reset, 300)
    const begunAt = performance.now()
    const answers = await Promise.all([shop.get('/x'), shop.get('/x', unpaid)])
    expect(answers.map(({ status }) => status)).toEqual([402, 200])
    expect(performance.now() - begunAt).toBeLessThan(2_000)
    expect(problems).toEqual([])
  })

  it('is told as standby when none becomes active in time', async () => {
    const { other } = await openPair()
    for (const each of [facilitator, other]) standsBy(each)
    const { shop, problems } = await open({ limits: { challengeTimeoutMs: 500 } }, [
      facilitator.url,
      other.url,
    ])
    expect((await shop.get('/x')).status).toBe(502)
    expect(problems).toMatchObject([{ reason: 'standby', retryAfterSeconds: 1 }])
  })

  it('is named by a variable of the environment, with a comma between, each with its own credentials', async () => {
    const other = await startFacilitator()
    opened.push(other)
    const withUser = (url: string, user: string) => url.replace('//', `//${user}@`)
    standsBy(facilitator)
    const { shop } = await open({}, `${withUser(facilitator.url, 'a:x,y')}, ${withUser(other.url, 'b:z')}`)
    expect((await shop.get('/x')).status).toBe(402)
    const told = [facilitator, other].map(({ calls }) => calls.find(({ path }) => path === '/challenge'))
    expect(told.map((call) => Buffer.from(call?.authorization?.slice(6) ?? '', 'base64').toString())).toEqual(
      ['a:x,y', 'b:z'],
    )
  })

  it('has an address at least', () => {
    expect(() => schemeFor([])).toThrowError(expect.objectContaining({ code: 'option_missing' }))
  })
})

describe("the seller's token", () => {
  const facilitatorToken = 'seller-token.0123456789_~+/abc=='

  it('goes with every call as a bearer credential, and into no answer', async () => {
    const { shop, problems } = await open({ facilitatorToken, limits: { recoveryPausesMs: [10] } })
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    facilitator.script.settle = () => 'drop'
    await shop.get('/x', payment)
    facilitator.reset()
    expect((await shop.get('/x', payment)).status).toBe(200)
    facilitator.script.challenge = () => 'drop'
    const answer = await (await shop.get('/x')).text()
    const seen = new Set(facilitator.calls.map(({ authorization }) => authorization))
    expect([...seen]).toEqual([`Bearer ${facilitatorToken}`])
    expect(answer + problems.map(String)).not.toContain('seller-token')
  })

  it('follows no redirect, on any path', async () => {
    const elsewhere = await startFacilitator()
    opened.push(elsewhere)
    const { shop } = await open({ facilitatorToken, limits: { recoveryPausesMs: [] } })
    const payment = paymentFor(offerOf(required(await shop.get('/x'))))
    for (const status of [301, 302, 307, 308]) {
      const away = ({ path }: { path: string }) => ({
        status,
        headers: { location: `${elsewhere.url}${path}` },
      })
      facilitator.script.challenge = away
      expect((await shop.get('/x')).status).toBe(502)
      facilitator.reset()
      facilitator.script.verify = away
      expect((await shop.get('/x', payment)).status).toBe(502)
      facilitator.reset()
      facilitator.script.settle = away
      facilitator.script.payments = away
      expect((await shop.get('/x', payment)).status).toBe(502)
      facilitator.reset()
      facilitator.script.supported = away
      expect((await (await open({ facilitatorToken })).shop.get('/x')).status).toBe(502)
      facilitator.reset()
    }
    expect(elsewhere.calls).toEqual([])
  })

  it.each([
    ['invalid_facilitator_token', { facilitatorToken: '' }],
    ['invalid_facilitator_token', { facilitatorToken: 'hunter2\nhunter2' }],
    ['invalid_facilitator_token', { facilitatorToken: 'hunter2 hunter2' }],
    ['two_facilitator_credentials', { facilitatorToken: 'hunter2', facilitatorUrl: 'http://a:b@127.0.0.1' }],
  ])('fails with %s for %o, without being printed', (code, options) => {
    const create = () => schemeFor(facilitator.url, options)
    expect(create).toThrowError(expect.objectContaining({ code }))
    expect(create).toThrowError(/^(?!.*hunter2)/)
  })
})
