import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accept, reject, toChecksum } from '@svc-zerc20/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { addressOf, deployment, nonceOf, seconds, units } from '../../../test/challenges.js'
import { connectionBounds } from '../../../test/connections.js'
import { echoStatements, openHistoryApp, participantsOf, ratePerMin } from '../../../test/history-app.js'
import { createMemoryHistory } from '../../../test/history-books.js'
import { historyPaymentOf, noon, payerA } from '../../../test/history-payments.js'
import { limits } from '../../config/limits.js'
import type { HistoryBooks } from '../../history/answers.js'
import { createServer } from '../server.js'

const open: { close(): Promise<unknown> }[] = []
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())))

async function opened(...given: Parameters<typeof openHistoryApp>) {
  const world = await openHistoryApp(...given)
  open.push(world.app)
  return world
}

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => historyPaymentOf(i + 1, { at: noon + i, value: BigInt(i + 1) }))
const seedsIn = (body: { payments: { challengeNonce: string }[] }) =>
  body.payments.map(({ challengeNonce }) => Number(challengeNonce))

describe('whoami', () => {
  it('R-125 tells who the token stands for and which payments it shows', async () => {
    const { get } = await opened()
    const token = toChecksum(deployment.token)
    const rest = { network: 'eip155:31337', token, expiresAt: noon + 7_200 + 900 }
    expect((await get('/whoami', 'payer')).json()).toMatchObject({
      role: 'payer',
      tenant: 'acme',
      actor: 'buyer-7',
      sees: 'address',
      address: toChecksum(payerA),
      ...rest,
    })
    expect((await get('/whoami', 'provider')).json()).toMatchObject({
      role: 'provider',
      tenant: 'shop',
      actor: 'till-1',
      sees: 'treasury',
      treasury: toChecksum(deployment.treasury),
      ...rest,
    })
    const { get: byNonce } = await opened({
      participants: participantsOf({ payer: { tenant: 'acme', actor: 'buyer-7' } }),
    })
    expect((await byNonce('/whoami', 'payer')).json().sees).toBe('nonce')
  })
})

describe('lists', () => {
  it('page by page, each payment once', async () => {
    const { get } = await opened({ payments: many(7) })
    const seeds: number[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page: { payments: { challengeNonce: string }[]; next?: string } = (
        await get(`/payments?limit=3${cursor && `&cursor=${cursor}`}`, 'payer')
      ).json()
      seeds.push(...seedsIn(page))
      cursor = page.next
    }
    expect(seeds).toEqual([7, 6, 5, 4, 3, 2, 1])
  })

  it('by time, amount and phase', async () => {
    const { get } = await opened({ payments: many(5) })
    const seeds = async (query: string) => seedsIn((await get(`/payments?${query}`, 'provider')).json())
    expect(await seeds(`since=${noon + 1}&until=${noon + 3}`)).toEqual([3, 2])
    expect(await seeds('minAmount=2&maxAmount=3')).toEqual([3, 2])
    expect(await seeds('phase=finalized')).toEqual([])
    expect(await seeds('phase=accepted&unknown=key')).toHaveLength(5)
  })

  it.each([
    ['/payments', 'phase=paid'],
    ['/payments', 'limit=0'],
    ['/payments', 'limit=x'],
    ['/payments', 'since=-1'],
    ['/payments', 'until=1e3'],
    ['/payments', 'minAmount=1.5'],
    ['/payments', 'maxAmount=0x10'],
    ['/payments', `maxAmount=${2n ** 256n}`],
    ['/payments', 'cursor=%00'],
    ['/payments', 'cursor='],
    ['/payments', 'phase=late&phase=accepted'],
    ['/payments', 'until=5&since=5'],
    ['/payments', 'maxAmount=1&minAmount=2'],
    ['/totals', 'since=yesterday'],
    ['/totals', 'until=7&since=8'],
    ['/export', 'format=pdf'],
    ['/export', 'format=csv&format=json'],
    ['/export', 'minAmount=-1'],
  ])('%s?%s is refused, and the answer names what is wrong', async (path, query) => {
    const { get } = await opened()
    const answer = await get(`${path}?${query}`, 'provider')
    expect([answer.statusCode, answer.json().reason]).toEqual([400, 'malformed_request'])
    expect(answer.json().error).toContain(query.split('=')[0])
  })

  it('a cursor that no page gave is refused', async () => {
    const { get } = await opened({ payments: many(3) })
    const answer = await get('/payments?limit=1&cursor=WyJhbW91bnQiLDEsMV0', 'payer')
    expect([answer.statusCode, answer.json().reason]).toEqual([400, 'malformed_request'])
  })
})

describe('totals', () => {
  it('R-125 of the provider have fees and mints, those of a payer do not', async () => {
    const fee = { amount: units(3n), bps: 30, chargeTo: 'payer' as const }
    const payments = [
      historyPaymentOf(1, { challenge: { fee }, finalizedAt: noon + 1 }),
      historyPaymentOf(2, { accepted: false, late: { value: units(50n) } }),
    ]
    const { get } = await opened({ payments })
    const period = { since: 0, until: noon + 7_201 }
    const accepted = { payments: 1, amount: '1000' }
    const late = { payments: 1, amount: '50' }
    const shared = { network: 'eip155:31337', token: toChecksum(deployment.token), ...period, accepted, late }
    expect((await get('/totals', 'payer')).json()).toEqual(shared)
    expect((await get('/totals', 'provider')).json()).toEqual({
      ...shared,
      fees: { payments: 1, amount: '3' },
      finalized: { payments: 1, amount: '1000' },
    })
    const none = (await get(`/totals?since=${noon + 100}&until=${noon + 200}`, 'payer')).json()
    expect(none).toMatchObject({ since: noon + 100, accepted: { payments: 0, amount: '0' } })
  })
})

describe('paths and methods', () => {
  const shapes = [
    ['PUT', '/history/payments', 405],
    ['DELETE', `/history/payments/${nonceOf(1)}`, 405],
    ['GET', '/history/login', 405],
    ['POST', '/history/export', 405],
    ['GET', '/history/nothing', 404],
    ['GET', '/history', 404],
    ['GET', '/history/', 404],
    ['GET', '/history/%', 400],
    ['GET', `/history/payments/${'a'.repeat(500)}`, 404],
    ['GET', '/history/payments/0x12', 404],
  ] as const

  it.each(shapes)(
    'R-125 %s %s answers 401 to strangers and %i to participants',
    async (method, url, status) => {
      const { app, headerOf } = await opened()
      const stranger = await app.inject({ method, url })
      expect([stranger.statusCode, stranger.json().reason]).toEqual([401, 'token_missing'])
      expect(stranger.headers['www-authenticate']).toBe('Bearer')
      const participant = await app.inject({ method, url, headers: await headerOf('payer') })
      expect(participant.statusCode).toBe(status)
      if (status === 405) expect(participant.headers.allow).toMatch(/GET|POST/)
    },
  )

  it('HEAD is answered like GET, without a body and without reading the history for an export', async () => {
    const { app, headerOf, history } = await opened({ payments: many(3) })
    const headers = await headerOf('provider')
    for (const path of ['/whoami', '/payments', '/totals', '/export', '/export?format=csv']) {
      const { statusCode, body } = await app.inject({ method: 'HEAD', url: `/history${path}`, headers })
      expect([statusCode, body]).toEqual([200, ''])
    }
    expect(history.walks.begun).toBe(0)
    const stranger = await app.inject({ method: 'HEAD', url: '/history/export' })
    expect([stranger.statusCode, stranger.body]).toEqual([401, ''])
  })

  it('R-085 without a configured history there is nothing beneath /history', async () => {
    const app = createServer({
      chainId: 31337,
      trustedProxies: undefined,
      bodyBytesMax: 1024,
      log: () => undefined,
      connections: connectionBounds,
    })
    open.push(app)
    for (const [, url] of [...shapes, ['GET', '/history/login/challenge'], ['GET', '/history/export']]) {
      const { statusCode } = await app.inject({ method: 'GET', url })
      expect(statusCode).toBe(url === '/history/%' ? 400 : 404)
    }
  })
})

describe('login', () => {
  const token = { token: 'x.y.z', role: 'payer' as const, expiresAt: seconds(noon) }
  const login = {
    challenge: () => ({ message: 'sign this', expiresAt: seconds(noon) }),
    login: async ({ signature }: { signature: string }) =>
      signature === '0x01' ? accept(token) : reject('login_refused'),
  }
  const post = (
    app: Awaited<ReturnType<typeof opened>>['app'],
    path: string,
    payload: object,
    from = '127.0.0.1',
  ) => app.inject({ method: 'POST', url: `/history${path}`, payload, remoteAddress: from })

  it('R-143 gives a message to sign, and a token for the signature', async () => {
    const { app } = await opened({ login })
    const challenge = await post(app, '/login/challenge', { address: addressOf(1) })
    expect(challenge.json()).toEqual({ message: 'sign this', expiresAt: noon })
    expect((await post(app, '/login', { message: 'm', signature: '0x01' })).json()).toEqual(token)
    expect((await post(app, '/login', { message: 'm', signature: '0x02' })).statusCode).toBe(401)
  })

  it.each([
    ['/login/challenge', {}],
    ['/login/challenge', { address: '0x12' }],
    ['/login/challenge', { address: 7 }],
    ['/login', { message: 'm' }],
    ['/login', { message: 'm', signature: 'zz' }],
    ['/login', { message: 'm', signature: '0x1' }],
    ['/login', { message: 7, signature: '0x01' }],
    ['/login', []],
  ])('%s refuses the body %j', async (path, body) => {
    const { app } = await opened({ login })
    const answer = await post(app, path, body)
    expect([answer.statusCode, answer.json().reason]).toEqual([400, 'malformed_request'])
  })

  it('has a rate of its own for each caller, whatever participants ask', async () => {
    const { app, get, clock } = await opened({ login })
    for (let i = 0; i < limits.historyLoginsPerMin; i++) {
      const isFirst = i % 2 === 0
      const body = isFirst ? { address: addressOf(1) } : { message: 'm', signature: '0x02' }
      await post(app, isFirst ? '/login/challenge' : '/login', body)
    }
    const refused = await post(app, '/login', { message: 'm', signature: '0x01' })
    expect([refused.statusCode, refused.json().reason]).toEqual([429, 'too_many_requests'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await post(app, '/login/challenge', { address: addressOf(1) })).statusCode).toBe(429)
    expect((await post(app, '/login', { message: 'm', signature: '0x01' }, '10.1.2.3')).statusCode).toBe(200)
    expect((await get('/whoami', 'payer')).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await post(app, '/login', { message: 'm', signature: '0x01' })).statusCode).toBe(200)
  })

  it('R-087 is not there without both wallets', async () => {
    const { app } = await opened()
    expect((await post(app, '/login/challenge', { address: addressOf(1) })).statusCode).toBe(404)
    expect((await post(app, '/login', { message: 'm', signature: '0x01' })).statusCode).toBe(404)
  })
})

describe('rates', () => {
  it('one participant cannot use up the rate of the other', async () => {
    const { get, clock } = await opened()
    for (let i = 0; i < ratePerMin; i++) await get('/whoami', 'payer')
    const refused = await get('/whoami', 'payer')
    expect([refused.statusCode, refused.json().reason]).toEqual([429, 'too_many_requests'])
    expect((await get('/whoami', 'provider')).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await get('/whoami', 'payer')).statusCode).toBe(200)
  })
})

describe('an export', () => {
  it('is whole JSON, oldest first, and CSV with a row for each payment', async () => {
    const { get } = await opened({ payments: many(500) })
    const json = await get('/export', 'provider')
    expect(json.headers['content-type']).toContain('application/json')
    expect(json.headers['content-disposition']).toBe('attachment; filename="history-provider.json"')
    const body = json.json()
    expect(seedsIn(body)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1))
    expect(body).toMatchObject({ network: 'eip155:31337', exportedAt: noon + 7_200 })
    const csv = await get('/export?format=csv&minAmount=491', 'payer')
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(csv.body.split('\r\n')).toHaveLength(12)
  })

  it('of nothing is whole as well', async () => {
    const { get } = await opened()
    expect((await get('/export', 'payer')).json().payments).toEqual([])
    expect((await get('/export?format=csv', 'payer')).body.split('\r\n')).toHaveLength(2)
  })

  /** Endless books, so that only a slow reader keeps an export from going on. */
  function endless() {
    const { books } = createMemoryHistory([])
    const walk = { given: 0, isOver: false }
    const all: HistoryBooks['all'] = async function* () {
      try {
        for (;;) {
          walk.given += 1
          yield historyPaymentOf(1)
          // Others have their turn, but the buffers are full long before a slow machine gives a reader up.
          if (walk.given % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        walk.isOver = true
      }
    }
    return { books: { ...books, all }, walk }
  }

  /** A reader that takes the head of the answer and nothing more. */
  async function slowReader({ app, headerOf }: Awaited<ReturnType<typeof opened>>) {
    if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const headers = await headerOf('payer')
    const request = httpRequest({ port, path: '/history/export', headers, agent: false })
    request.on('error', () => undefined)
    const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve).end())
    response.on('error', () => undefined).pause()
    return { request, response, status: response.statusCode }
  }

  it('waits for its reader, and ends when the reader leaves', async () => {
    const { books, walk } = endless()
    const world = await opened({ books })
    const { request } = await slowReader(world)
    let given = -1
    await until(
      async () => {
        const isStill = walk.given === given
        given = walk.given
        return isStill && given > 0
      },
      { everyMs: 50 },
    )
    expect(walk.isOver).toBe(false)
    request.destroy()
    await until(() => walk.isOver)
  })

  it('ends with its time, however slow its reader is, and its place is free again', async () => {
    const { books, walk } = endless()
    const world = await opened({ books })
    const [first, second] = [await slowReader(world), await slowReader(world)]
    world.endSleeps()
    await until(() => walk.isOver)
    await Promise.all([first, second].map(({ response }) => once(response.resume(), 'error')))
    const next = await slowReader(world)
    expect(next.status).toBe(200)
    next.request.destroy()
  })

  it('is refused while two of the participant are under way', async () => {
    const { books, walk } = endless()
    const world = await opened({ books })
    const readers = [await slowReader(world), await slowReader(world)]
    expect(readers.map(({ status }) => status)).toEqual([200, 200])
    const third = await world.get('/export', 'payer')
    expect([third.statusCode, third.json().reason]).toEqual([429, 'too_many_requests'])
    for (const { request } of readers) request.destroy()
    await until(() => walk.isOver)
    const again = await until(async () => {
      const reader = await slowReader(world)
      return reader.status === 200 ? reader : undefined
    })
    again.request.destroy()
  })

  it('breaks off when the history cannot be read on, so that nobody takes a part for the whole', async () => {
    const { books } = createMemoryHistory([])
    const world = await opened({
      books: {
        ...books,
        async *all() {
          for (let i = 0; i < 200; i++) yield historyPaymentOf(1)
          throw new Error('the disk is gone')
        },
      },
    })
    await world.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = world.app.server.address() as AddressInfo
    const headers = await world.headerOf('payer')
    const reading = fetch(`http://127.0.0.1:${port}/history/export?format=csv`, { headers }).then((answer) =>
      answer.text(),
    )
    await expect(reading).rejects.toThrow()
  })
})

describe('statements', () => {
  const body = { audience: 'https://auditor.example', nonce: 'n-1' }
  const period = { since: 5, until: 9 }

  it('R-125 are made of what the participant sees, for the audience that it names', async () => {
    const { post } = await opened({ payments: many(2), statements: echoStatements() })
    for (const kind of ['statement', 'receipt']) {
      const answer = await post(`/payments/${nonceOf(1)}/${kind}`, 'payer', body)
      const [sight, seen, request] = JSON.parse(answer.json().statement)
      expect(sight).toEqual({ role: 'payer', scope: { kind: 'payer', payer: payerA } })
      expect(seen).toMatchObject({ challengeNonce: nonceOf(1), payer: payerA })
      expect(request).toEqual(body)
      expect((await post(`/payments/${nonceOf(9)}/${kind}`, 'payer', body)).statusCode).toBe(404)
    }
    const total = await post('/totals/statement', 'payer', { ...body, since: noon, until: noon + 9 })
    const [, totals, proved] = JSON.parse(total.json().statement)
    expect(totals).toEqual({ accepted: { payments: 2, amount: '3' }, late: { payments: 0, amount: '0' } })
    expect(proved).toEqual({ since: noon, until: noon + 9 })
  })

  it.each([
    [`/payments/${nonceOf(1)}/statement`, {}],
    [`/payments/${nonceOf(1)}/receipt`, { audience: 7 }],
    [`/payments/${nonceOf(1)}/statement`, { audience: 'x', nonce: {} }],
    ['/totals/statement', { audience: 'x' }],
    ['/totals/statement', { audience: 'x', since: 9, until: 5 }],
    ['/totals/statement', { audience: 'x', since: 1.5, until: 5 }],
  ])('%s refuses the body %j', async (path, payload) => {
    const { post } = await opened({ payments: many(1), statements: echoStatements() })
    const answer = await post(path, 'provider', payload)
    expect([answer.statusCode, answer.json().reason]).toEqual([400, 'malformed_request'])
  })

  it('of a total are not for a payer that has to present nonces', async () => {
    const { post } = await opened({
      statements: echoStatements(),
      participants: participantsOf({ payer: { tenant: 'acme', actor: 'buyer-7' } }),
    })
    expect((await post('/totals/statement', 'payer', { ...body, ...period })).json().reason).toBe(
      'nonce_required',
    )
  })

  it('manifest and revocations are for everybody, as signed text', async () => {
    const { app } = await opened({ statements: echoStatements() })
    for (const [path, text] of [
      ['manifest', 'a.manifest'],
      ['revocations', 'a.list'],
    ]) {
      const answer = await app.inject({ method: 'GET', url: `/history/issuer/${path}` })
      expect([answer.statusCode, answer.body]).toEqual([200, text])
      expect(answer.headers['content-type']).toContain('application/jose')
    }
  })

  it('R-086 are not there without an issuer', async () => {
    const { app, get, post } = await opened({ payments: many(1) })
    for (const path of [
      `/payments/${nonceOf(1)}/statement`,
      `/payments/${nonceOf(1)}/receipt`,
      '/totals/statement',
    ]) {
      expect((await post(path, 'payer', { ...body, ...period })).statusCode).toBe(404)
    }
    expect((await app.inject({ url: '/history/issuer/manifest' })).statusCode).toBe(404)
    expect((await app.inject({ url: '/history/issuer/revocations' })).statusCode).toBe(404)
    expect((await get('/whoami', 'payer')).json().statements).toBe(false)
  })
})
