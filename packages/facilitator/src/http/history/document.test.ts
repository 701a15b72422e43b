/** Every answer of the participants' surface fits the OpenAPI document, in success and in each refusal. */
import { accept, type ReasonCode, reject, SvcError } from '@svc-zerc20/protocol'
import type { LightMyRequestResponse } from 'fastify'
import { expect, it } from 'vitest'
import { addressOf, nonceOf, seconds, units } from '../../../test/challenges.js'
import { type ApiDocument, createDocumentedAnswers } from '../../../test/documented-answers.js'
import { echoStatements, type HistoryApp, openHistoryApp, participantsOf } from '../../../test/history-app.js'
import { historyPaymentOf, noon } from '../../../test/history-payments.js'
import type { Statements } from '../../history/statements/statements.js'
import { openApiDocument } from '../document.js'
import { historyRoutes } from './api.js'

const documented = createDocumentedAnswers(openApiDocument() as ApiDocument)
const payments = [
  historyPaymentOf(1, {
    late: { value: units(9000n) },
    finalizedAt: noon - 90_000,
    lateMintedAt: noon - 80_000,
    disclosedAt: noon,
    unmatched: [{ txHash: '0x' as never, reason: 'burn_split', at: seconds(noon) }],
    challenge: { fee: { amount: units(3n), bps: 30, chargeTo: 'payer', recipient: addressOf(9) } },
  }),
  historyPaymentOf(2, { at: noon - 50 }),
]
const login = {
  challenge: () => ({ message: 'sign me', expiresAt: seconds(noon) }),
  login: async ({ signature }: { signature: string }) => {
    // A contract wallet has to be asked.
    if (signature === '0xff') throw new SvcError('rpc_unreachable', 'the node is away')
    if (signature === '0x00') return reject('login_refused')
    return accept({ token: 't', role: 'payer' as const, expiresAt: seconds(noon) })
  },
}

/** An issuer that does what the audience is called. */
const reasonOf: Record<string, ReasonCode> = {
  later: 'finality_not_told',
  hidden: 'burn_not_disclosed',
  away: 'issuer_unavailable',
}
function statementsOf(isAway = false): Statements {
  const echo = echoStatements()
  const heed = (given: unknown[]) => reasonOf[(given.at(-1) as { audience: string }).audience]
  const issue = async (...given: Parameters<Statements['receipt']>) => {
    const reason = heed(given)
    return reason ? reject(reason) : echo.receipt(...given)
  }
  return {
    statePayment: issue,
    receipt: issue,
    stateTotal: async (sight, _totals, _period, request) => issue(sight, {} as never, request),
    manifest: () => (isAway ? reject('issuer_unavailable') : echo.manifest()),
    revocations: async () => (isAway ? reject('issuer_unavailable') : echo.revocations()),
  }
}

function check(method: string, url: string, response: LightMyRequestResponse) {
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, `${value}`]),
  )
  const isJson = headers.get('content-type')?.includes('json')
  const text = response.body
  documented.check(method, url, {
    status: response.statusCode,
    headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  })
  return response
}

const pathOf = (path: string, seed: number) => path.replace('{challengeNonce}', nonceOf(seed))
const period = { since: 1, until: 2 }
const bodies: Record<string, object> = {
  '/history/login': { message: 'sign me', signature: '0x01' },
  '/history/login/challenge': { address: addressOf(1) },
}

async function ask({ app }: HistoryApp, method: 'GET' | 'POST', url: string, more: object = {}) {
  const payload = bodies[url] ?? (/statement$|receipt$/.test(url) ? { audience: 'us', ...period } : undefined)
  return check(method, url, await app.inject({ method, url, ...(payload && { payload }), ...more }))
}

it('the answers of both roles, and refusals by role, token, form and rate', async () => {
  const admission = { participant: () => undefined, login: () => undefined }
  const world = await openHistoryApp({ payments, login, statements: statementsOf(), admission })
  const byNonce = await openHistoryApp({
    payments,
    admission,
    participants: participantsOf({ payer: { tenant: 'acme', actor: 'buyer-7' } }),
  })
  for (const { method, path, auth, body } of historyRoutes) {
    for (const role of ['payer', 'provider'] as const) {
      for (const from of [world, byNonce]) {
        for (const seed of [1, 2, 3]) {
          await ask(from, method, pathOf(path, seed), { headers: await from.headerOf(role) })
        }
      }
    }
    if (auth) await ask(world, method, pathOf(path, 1))
    if (!body) continue
    const url = pathOf(path, 1)
    const headers = await world.headerOf('provider')
    await ask(world, method, url, { headers, payload: { address: 5, audience: 5 } })
    await ask(world, method, url, { headers, payload: { padding: 'x'.repeat(2_000) } })
    await ask(world, method, url, { payload: 'x', headers: { ...headers, 'content-type': 'text/plain' } })
    for (const audience of /login|totals/.test(url) ? ['later', 'away'] : Object.keys(reasonOf)) {
      if (auth && !(audience === 'hidden' && url.endsWith('/statement'))) {
        await ask(world, method, url, { headers, payload: { audience, ...period } })
      }
    }
  }
  for (const signature of ['0x00', '0xff']) {
    await ask(world, 'POST', '/history/login', { payload: { message: 'x', signature } })
  }
  const provider = { headers: await world.headerOf('provider') }
  await ask(world, 'GET', '/history/payments?limit=1', provider)
  for (const path of ['/payments?limit=0', '/payments?cursor=x', '/totals?since=x', '/export?format=xml']) {
    expect((await ask(world, 'GET', `/history${path}`, provider)).statusCode).toBe(400)
  }
  await ask(world, 'GET', '/history/export?format=csv', provider)
  const usedUp = () => ({ ...reject('too_many_requests'), retryAfter: 7 })
  const busy = await openHistoryApp({ login, admission: { participant: usedUp, login: usedUp } })
  const payer = { headers: await busy.headerOf('payer') }
  for (const { method, path, auth, body } of historyRoutes) {
    if (!auth && !body) continue
    expect((await ask(busy, method, pathOf(path, 1), payer)).statusCode).toBe(429)
  }

  const full = async () => {
    throw new SvcError('ledger_failed', 'the disk is full')
  }
  const failing = await openHistoryApp({ payments: [historyPaymentOf(2)], disclose: full })
  const disclose = `/history/payments/${nonceOf(2)}/disclose`
  await ask(failing, 'POST', disclose, { headers: await failing.headerOf('payer') })
  const away = await openHistoryApp({ statements: statementsOf(true) })
  for (const path of ['manifest', 'revocations']) await ask(away, 'GET', `/history/issuer/${path}`)
  expect(documented.unseen((path) => path.startsWith('/history'))).toEqual([])
  await Promise.all([world, byNonce, busy, failing, away].map(({ app }) => app.close()))
})
