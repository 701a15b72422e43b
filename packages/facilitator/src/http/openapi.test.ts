import { readFileSync } from 'node:fs'
import { FacilitatorApi, Network, Payload, parseAmount, reject } from '@svc-zerc20/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { addressOf } from '../../test/challenges.js'
import { connectionBounds } from '../../test/connections.js'
import { participantsOf } from '../../test/history-app.js'
import { createMemoryHistory } from '../../test/history-books.js'
import { createMemoryLedger } from '../../test/ledger.js'
import { createOwedBooks } from '../payment/owed.js'
import { registerAdminApi } from './admin/api.js'
import { registerHistoryApi } from './history/api.js'
import { openApiDocument } from './openapi.js'
import { operations } from './operations.js'
import { createPresentations } from './presentations.js'
import { registerHealthApi } from './public/health.js'
import { registerPaymentApi } from './public/payments.js'
import { createRateLimits } from './rate-limit.js'
import { createServer } from './server.js'

const document = openApiDocument()
const ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: true })
ajv.addSchema({ $id: 'api', components: document.components }, undefined, false, false)
ajv.addVocabulary(['components'])
const fits = (name: string, value: unknown): boolean =>
  ajv.validate({ $ref: `api#/components/schemas/${name}` }, value) as boolean

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/protocol/payloads.json', import.meta.url), 'utf8'),
) as {
  payloads: { name: string; payload: unknown; expected: string }[]
  requests: { name: string; endpoint: string; body: unknown; expected: string }[]
}
const isAccepted = (expected: string) => expected === 'permit' || expected === 'self-transfer'

describe('the schemas of the document', () => {
  it.each(vectors.requests)(
    'judge "$name" for $endpoint as the parser does',
    ({ endpoint, body, expected }) => {
      const parse =
        endpoint === '/settle' ? FacilitatorApi.parseSettleRequest : FacilitatorApi.parsePaymentRequest
      expect(parse(body).ok).toBe(isAccepted(expected))
      expect(fits(endpoint === '/settle' ? 'SettleRequest' : 'PaymentRequest', body)).toBe(
        isAccepted(expected),
      )
    },
  )

  /** A pattern cannot say "below 2^256"; the parser does. */
  const beyondSchemas = ['a value of 2^256']

  it.each(vectors.payloads.filter(({ name }) => !beyondSchemas.includes(name)))(
    'judge the payload "$name" as the parser does',
    ({ payload, expected }) => {
      const body = {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: {}, payload },
        paymentRequirements: { scheme: 'svc-zerc20' },
      }
      expect(Payload.parse(payload).ok).toBe(isAccepted(expected))
      expect(fits('PaymentRequest', body)).toBe(isAccepted(expected))
    },
  )

  it('take every amount the parser takes, and refuse what is not even a number', () => {
    const text = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
      fc.string({ maxLength: 12 }),
      fc.constantFrom('0', '01', '-1', '1e3', '0x1', ' 1', '1.0', `${2n ** 248n - 1n}`),
    )
    fc.assert(
      fc.property(text, (amount) => {
        const parsed = parseAmount(amount)
        if (parsed !== undefined) expect(fits('ChallengeRequest', { amount })).toBe(true)
        if (!/^[1-9]\d*$/.test(amount)) expect(fits('ChallengeRequest', { amount })).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the document', () => {
  it('is OpenAPI 3.1 whose references all lead somewhere', () => {
    expect(document.openapi).toBe('3.1.0')
    const text = JSON.stringify(document)
    const { schemas } = document.components as { schemas: Record<string, object> }
    const referenced = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name))
    expect(referenced.size).toBeGreaterThan(15)
    for (const name of referenced) expect(Object.keys(schemas)).toContain(name)
    for (const [name, schema] of Object.entries(schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true)
      expect(schema, name).toHaveProperty('description')
    }
  })

  it('has every route of the daemon, and no other', async () => {
    const routes: string[] = []
    const app = createServer({
      chainId: 31337,
      trustedProxies: undefined,
      bodyBytesMax: 1024,
      connections: connectionBounds,
      log: () => undefined,
    })
    app.addHook('onRoute', ({ method, url }) => {
      for (const name of [method].flat()) if (name !== 'HEAD') routes.push(`${name} ${url}`)
    })
    registerAllRoutes(app)
    await app.ready()
    const documented = operations.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
    expect(routes.sort()).toEqual(documented.sort())
    await app.close()
  })
})

/** The routes only have to exist here. Their handlers do not matter. */
function registerAllRoutes(app: ReturnType<typeof createServer>): void {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 1, expiredRetentionSeconds: 0 })
  const rateLimits = createRateLimits({ keysMax: 1, clock })
  const off = rateLimits('shared', 0)
  const profile = { name: 'local', acceptsPayments: true }
  const readiness = async () => ({ problems: [] })
  registerPaymentApi(app, {
    chainId: 31337,
    profile,
    clock,
    issueChallenge: async () => reject('challenge_limit'),
    verify: async () => ({ isValid: true }),
    settle: async () => ({
      response: { success: false, transaction: '', network: Network.format(31337) },
    }),
    status: async () => undefined,
    ledger,
    tickets: { matches: () => false },
    callers: {
      of: () => ({
        key: 'caller',
        rates: { shared: off, issuance: off, known: off, beyond: off, misses: off },
      }),
    },
    presentations: createPresentations({ surePerMin: 0, furtherPerMin: 0, rateLimits }),
    onGrantFailure: () => undefined,
  })
  registerHealthApi(app, { readiness })
  registerHistoryApi(app, {
    ...{ chainId: 31337, token: addressOf(1), treasury: addressOf(2), participants: participantsOf(), clock },
    tokens: { read: async () => reject('token_missing') },
    login: undefined,
    proofs: undefined,
    books: createMemoryHistory([]).books,
    disclose: async () => undefined,
    rateLimits,
  })
  registerAdminApi(app, {
    chainId: 31337,
    profile,
    clock,
    auth: () => true,
    retryMint: undefined,
    closeEpoch: undefined,
    deciderWait: undefined,
    stuckTransfers: async () => [],
    books: ledger.books,
    issuance: {
      isPaused: () => false,
      pause: async () => undefined,
      resume: async () => undefined,
      gate: (issue) => issue,
    },
    recent: { hear: () => undefined, of: () => [] },
    readiness,
    renderMetrics: async () => '',
    finalizeOff: undefined,
    owed: createOwedBooks({ ledger, clock, waitOf: undefined, few: 0, freshMs: 0 }),
    batchPace: { least: 30, waitMaxMs: 0 },
    fees: {
      view: () => Promise.reject(new Error('no fees here')),
      last: () => undefined,
      sweepNow: async () => ({ kind: 'none', why: 'nothing_due' }),
    },
    vitals: {
      startedAtMs: 0,
      ledgerId: '00'.repeat(16),
      token: undefined,
      openChallengesMax: 1,
      addressesReady: () => 0,
      addressesTarget: 1,
      relayer: { address: '0x', balance: () => undefined, queue: () => [] },
      minter: undefined,
      journal: () => undefined,
      history: () => undefined,
      spent: () => ({ transactions: 0, gas: 0n, wei: 0n }),
      chain: () => undefined,
      clockSkewSeconds: () => undefined,
      diskSpace: async () => undefined,
    },
  })
}
