/** Statements over HTTP from a real issuer, checked as an auditor checks them: offline, with the trust anchor alone. */
import { parseStatementFile, type VerifiedStatement, verifyStatement } from '@svc-zerc20/statement'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { deployment, nonceOf } from '../../../test/challenges.js'
import { type HistoryApp, nowOfAll, openHistoryApp } from '../../../test/history-app.js'
import { historyPaymentOf, noon, payerA } from '../../../test/history-payments.js'
import { issuerOf, type TestIssuer } from '../../../test/issuer.js'
import { createStatements } from '../../history/statements/statements.js'
import { systemRandom } from '../../system.js'

const audience = 'https://auditor.example'
const twoDaysAgo = noon - 2 * 86_400
const payments = [
  historyPaymentOf(1, { at: twoDaysAgo, finalizedAt: twoDaysAgo + 611, value: 3n }),
  historyPaymentOf(2, { finalizedAt: noon + 622, value: 4n }),
]

let issuer: TestIssuer
let world: HistoryApp
beforeEach(async () => {
  issuer = await issuerOf(nowOfAll)
  const statements = await createStatements({
    settings: issuer.settings,
    money: deployment,
    clock: stoppedClock(nowOfAll * 1000),
    random: systemRandom,
    log: () => undefined,
  })
  world = await openHistoryApp({ payments, statements })
})
afterEach(() => world.app.close())

async function proved(
  path: string,
  role: 'payer' | 'provider',
  body: object = {},
): Promise<VerifiedStatement> {
  const answer = await world.post(path, role, { audience, nonce: 'n-1', ...body })
  expect(answer.statusCode, answer.body).toBe(200)
  const { statement, manifest = '', revocations = '' } = parseStatementFile(answer.body)
  const { trustAnchor } = issuer
  const verdict = await verifyStatement(statement, {
    trustAnchor,
    manifests: [manifest],
    revocations: [revocations],
    now: nowOfAll,
    audience,
    nonce: 'n-1',
  })
  if (!verdict.ok) throw new Error(verdict.message)
  return verdict.statement
}

describe('R-125 a statement of', () => {
  const one = `/payments/${nonceOf(1)}`

  it('a payment says what its participant sees', async () => {
    const { claims } = await proved(`${one}/statement`, 'payer')
    expect(claims).toMatchObject({ challengeNonce: nonceOf(1), value: '3', payer: payerA })
    expect(claims).toMatchObject({ finalizedOn: '2023-11-13' })
    for (const name of ['treasury', 'mintTransaction', 'minted', 'finalizedAt', 'fees']) {
      expect(claims).not.toHaveProperty(name)
    }
    const { claims: providers } = await proved(`${one}/statement`, 'provider')
    expect(providers).toMatchObject({ treasury: deployment.treasury, finalizedAt: twoDaysAgo + 611 })
    for (const name of ['payer', 'burnTransaction', 'leafIndex']) expect(providers).not.toHaveProperty(name)
  })

  it('a total is a sum of the participant', async () => {
    const { claims } = await proved('/totals/statement', 'payer', { since: twoDaysAgo, until: nowOfAll - 60 })
    expect(claims).toMatchObject({ accepted: '7', acceptedPayments: 2, since: twoDaysAgo })
    expect(claims).not.toHaveProperty('finalized')
    const { claims: providers } = await proved('/totals/statement', 'provider', {
      since: 0,
      until: nowOfAll - 60,
    })
    expect(providers).toMatchObject({ accepted: '7', finalized: '7' })
    const late = await world.post('/totals/statement', 'payer', { audience, since: 0, until: nowOfAll })
    expect([late.statusCode, late.json().reason]).toEqual([409, 'period_not_over'])
  })

  it('finality names the burn and the day, once the day is over, and to nobody who may not see the burn', async () => {
    const { claims, kind } = await proved(`${one}/receipt`, 'payer')
    const { txHash } = payments[0]?.accepted?.burn ?? {}
    expect(kind).toBe('finality')
    expect(claims).toMatchObject({ burnTransaction: txHash, finalizedOn: '2023-11-13', value: '3' })
    const today = await world.post(`/payments/${nonceOf(2)}/receipt`, 'payer', { audience })
    expect([today.statusCode, today.json().reason]).toEqual([409, 'finality_not_told'])
    const hidden = await world.post(`${one}/receipt`, 'provider', { audience })
    expect([hidden.statusCode, hidden.json().reason]).toEqual([403, 'burn_not_disclosed'])
  })

  it('is checked with the manifest and the list that everybody gets', async () => {
    const answer = await world.post(`${one}/statement`, 'payer', { audience })
    const get = async (path: string) => (await world.app.inject({ url: `/history/issuer/${path}` })).body
    const verdict = await verifyStatement(parseStatementFile(answer.body).statement, {
      trustAnchor: issuer.trustAnchor,
      manifests: [await get('manifest')],
      now: nowOfAll,
      audience,
      revocations: [await get('revocations')],
    })
    expect(verdict.ok).toBe(true)
  })
})
