/** Every answer of the participants' surface fits the OpenAPI document, in success and in each refusal. */
import { reject, SvcError } from '@svc-zerc20/protocol'
import type { LightMyRequestResponse } from 'fastify'
import { expect, it } from 'vitest'
import { addressOf, nonceOf, seconds, units } from '../../../test/challenges.js'
import { type ApiDocument, createContract } from '../../../test/contract.js'
import { type HistoryApp, openHistoryApp, participantsOf } from '../../../test/history-app.js'
import { historyPaymentOf, noon } from '../../../test/history-payments.js'
import { limits } from '../../limits.js'
import { openApiDocument } from '../openapi.js'
import { historyOperations } from './operations.js'

const contract = createContract(openApiDocument() as ApiDocument)
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
  login: async ({ signature }: { signature: string }) =>
    signature === '0x00'
      ? reject('token_signature')
      : { ok: true as const, value: { token: 't', role: 'payer' as const, expiresAt: seconds(noon) } },
}

function check(method: string, url: string, response: LightMyRequestResponse) {
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, `${value}`]),
  )
  const isJson = headers.get('content-type')?.includes('json')
  const text = response.body
  contract.check(method, url, {
    ...{ status: response.statusCode, headers, text },
    body: isJson ? JSON.parse(text) : {},
  })
  return response
}

const pathOf = (path: string, seed: number) => path.replace('{challengeNonce}', nonceOf(seed))
const bodies: Record<string, object> = {
  '/history/login': { message: 'sign me', signature: '0x01' },
  '/history/login/challenge': { address: addressOf(1) },
}

async function ask({ app }: HistoryApp, method: 'GET' | 'POST', url: string, more: object = {}) {
  const payload = bodies[url]
  return check(method, url, await app.inject({ method, url, ...(payload && { payload }), ...more }))
}

it('the answers of both roles, and refusals by role, token, form and rate', async () => {
  const world = await openHistoryApp({ payments, login })
  const byNonce = await openHistoryApp({
    payments,
    participants: participantsOf({ payer: { tenant: 'acme', actor: 'buyer-7' } }),
  })
  for (const { method, path, isGuarded } of historyOperations) {
    for (const role of ['payer', 'provider'] as const) {
      for (const from of [world, byNonce]) {
        for (const seed of [1, 2, 3]) {
          await ask(from, method, pathOf(path, seed), { headers: await from.headerOf(role) })
        }
      }
    }
    if (isGuarded) await ask(world, method, pathOf(path, 1))
    else {
      await ask(world, method, path, { payload: { address: 5 } })
      await ask(world, method, path, { payload: { padding: 'x'.repeat(2_000) } })
      await ask(world, method, path, { payload: 'x', headers: { 'content-type': 'text/plain' } })
    }
  }
  await ask(world, 'POST', '/history/login', { payload: { message: 'x', signature: '0x00' } })
  const provider = { headers: await world.headerOf('provider') }
  await ask(world, 'GET', '/history/payments?limit=1', provider)
  for (const path of ['/payments?limit=0', '/payments?cursor=x', '/totals?since=x', '/export?format=xml']) {
    expect((await ask(world, 'GET', `/history${path}`, provider)).statusCode).toBe(400)
  }
  await ask(world, 'GET', '/history/export?format=csv', provider)
  for (let i = 0; i < limits.historyRequestsPerMin; i++) await world.get('/whoami', 'payer')
  for (let i = 0; i < limits.historyLoginsPerMin; i++) await ask(world, 'POST', '/history/login')
  const payer = { headers: await world.headerOf('payer') }
  for (const { method, path } of historyOperations) {
    expect((await ask(world, method, pathOf(path, 1), payer)).statusCode).toBe(429)
  }

  const full = async () => {
    throw new SvcError('journal_failed', 'the disk is full')
  }
  const failing = await openHistoryApp({ payments: [historyPaymentOf(2)], disclose: full })
  const disclose = `/history/payments/${nonceOf(2)}/disclose`
  await ask(failing, 'POST', disclose, { headers: await failing.headerOf('payer') })
  expect(contract.unseen((path) => path.startsWith('/history'))).toEqual([])
  await Promise.all([world, byNonce, failing].map(({ app }) => app.close()))
})
