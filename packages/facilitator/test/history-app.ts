/** The routes of participants on a server without a socket: real tokens, and a history in memory. */
import { accept, type ChallengeNonce, Secret } from '@svc-zerc20/protocol'
import { stoppedClock } from '../../../test/support/clocks.js'
import type { HistorySettings, ParticipantRole } from '../src/config/secrets/history.js'
import { createTokens } from '../src/history/identity/tokens.js'
import type { Statements } from '../src/history/statements/statements.js'
import { createAdmission } from '../src/http/admission.js'
import { historyRoutes } from '../src/http/history/api.js'
import { type HistoryApiDeps, historyGuard } from '../src/http/history/authenticate.js'
import { registerRoutes } from '../src/http/route.js'
import { createServer } from '../src/http/server.js'
import { deployment, seconds } from './challenges.js'
import { connectionBounds } from './connections.js'
import { createMemoryHistory } from './history-books.js'
import { noon, payerA } from './history-payments.js'
import { seededRandom } from './seeded-random.js'

const historyUrl = 'https://pay.example'
const identitySecret = new Secret('an identity secret of 40 characters or so')

export const participantsOf = (changes: Partial<HistorySettings['participants']> = {}) => ({
  payer: { tenant: 'acme', actor: 'buyer-7', address: payerA },
  provider: { tenant: 'shop', actor: 'till-1' },
  ...changes,
})

/** Requests a minute of one participant. */
export const ratePerMin = 120

/** The clock stands two hours after noon. */
export const nowOfAll = seconds(noon + 7_200)

export type HistoryApp = Awaited<ReturnType<typeof openHistoryApp>>

export async function openHistoryApp({
  payments = [],
  ...changes
}: Partial<HistoryApiDeps> & { payments?: Parameters<typeof createMemoryHistory>[0] } = {}) {
  /** Sleeps end when their signal does, or when the test says so. */
  const sleepers = new Set<() => void>()
  const clock = {
    ...stoppedClock(nowOfAll * 1000),
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.add(resolve)
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  const participants = changes.participants ?? participantsOf()
  const tokensOf = (settings: { participants: HistorySettings['participants'] }) =>
    createTokens({
      settings: { identitySecret, ...settings },
      url: historyUrl,
      clock,
      random: seededRandom(1),
    })
  const tokens = tokensOf({ participants })
  const history = createMemoryHistory(payments)
  const { chainId, token, treasury } = deployment
  const api: HistoryApiDeps = {
    chainId,
    token,
    treasury,
    participants,
    tokens,
    clock,
    tokenLabel: { symbol: 'zUSD', decimals: 6 },
    login: undefined,
    statements: undefined,
    exports: { payer: new Set(), provider: new Set() },
    books: history.books,
    disclose: async (nonce: ChallengeNonce) => {
      const at = payments.findIndex(({ challenge }) => challenge.nonce === nonce)
      const payment = payments[at]
      if (payment) payments[at] = { ...payment, disclosedAt: nowOfAll }
    },
    admission: createAdmission({
      sellers: [],
      strangers: { ratePerMin, issuancePerMin: 1 },
      clock,
      log: () => undefined,
    }),
    ...changes,
  }
  const app = createServer({
    chainId,
    trustedProxies: undefined,
    bodyBytesMax: 1024,
    // Silence is no test of the history: on a slow machine a reader may be silent for seconds, before and after it asks.
    connections: { ...connectionBounds, headMs: 60_000, requestMs: 60_000, silentMs: 60_000 },
    guards: [historyGuard(api)],
    log: () => undefined,
  })
  registerRoutes(app, historyRoutes, api)
  await app.ready()

  const headerOf = async (role: ParticipantRole, from = tokens) => ({
    authorization: `Bearer ${(await from.issue(role)).token}`,
  })
  return {
    app,
    clock,
    endSleeps() {
      for (const end of sleepers) end()
    },
    history,
    headerOf,
    tokensOf,
    get: async (path: string, role: ParticipantRole) =>
      app.inject({ method: 'GET', url: `/history${path}`, headers: await headerOf(role) }),
    post: async (path: string, role: ParticipantRole, payload?: object) =>
      app.inject({
        method: 'POST',
        url: `/history${path}`,
        headers: await headerOf(role),
        ...(payload && { payload }),
      }),
  }
}

/** An issuer whose statements are the plain text of what it was given, so that a test can look for secrets in them. */
export function echoStatements(): Statements {
  const issue = async (...given: unknown[]) =>
    accept({
      format: 'echo',
      manifest: 'm',
      revocations: 'r',
      jti: 'j',
      expiresAt: nowOfAll,
      statement: JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    })
  return {
    statePayment: issue,
    stateTotal: issue,
    receipt: issue,
    manifest: () => accept('a.manifest'),
    revocations: async () => accept('a.list'),
  } as unknown as Statements
}
