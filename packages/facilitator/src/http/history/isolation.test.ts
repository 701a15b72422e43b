/** R-125 by enumeration: every operation, asked by everybody, in every format. */
import { toChecksum } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, deployment, hashOf, nonceOf, seconds, units } from '../../../test/challenges.js'
import {
  echoStatements,
  type HistoryApp,
  nowOfAll,
  openHistoryApp,
  participantsOf,
} from '../../../test/history-app.js'
import { historyPaymentOf, noon, payerA, payerB } from '../../../test/history-payments.js'
import { openRecordedHistory } from '../../../test/recorded-history.js'
import type { HistoryPayment } from '../../history/payment.js'
import { historyRoutes } from './api.js'

const twoDaysAgo = noon - 2 * 86_400
const payerC = addressOf(0xccc1)
const otherTreasury = addressOf(0x7777)
const recipient = addressOf(0xfee1)

const world = (): HistoryPayment[] => [
  historyPaymentOf(1, { finalizedAt: noon + 611 }),
  historyPaymentOf(2, {
    at: twoDaysAgo,
    finalizedAt: twoDaysAgo + 622,
    challenge: { fee: { amount: units(10n), bps: 100, chargeTo: 'provider', recipient } },
  }),
  historyPaymentOf(3, { payer: payerB, at: twoDaysAgo, finalizedAt: twoDaysAgo + 633 }),
  historyPaymentOf(4, {
    at: twoDaysAgo,
    late: { from: payerB, value: units(5000n) },
    finalizedAt: twoDaysAgo + 644,
    lateMintedAt: twoDaysAgo + 655,
  }),
  historyPaymentOf(5, { accepted: false, late: {}, finalizedAt: noon + 666 }),
  historyPaymentOf(6, { accepted: false }),
  historyPaymentOf(7, { payer: payerC, disclosedAt: noon + 60, finalizedAt: noon + 677 }),
  historyPaymentOf(8, { challenge: { treasury: otherTreasury } }),
  historyPaymentOf(9, {
    unmatched: [{ txHash: hashOf(0xeee9), reason: 'burn_underpaid', at: seconds(noon - 5) }],
  }),
]

const paths = {
  A: [1, 2, 4, 5, 8, 9],
  provider: [1, 2, 3, 4, 5, 6, 7, 9],
} as const

/** Everything that a participant can ask for, as far as it is about payments. */
const questions = [
  '/payments',
  '/payments?phase=finalized',
  '/payments?phase=accepted',
  '/payments?phase=late',
  '/totals',
  '/export',
  '/export?format=csv',
  '/export?phase=finalized&format=csv',
  ...Array.from({ length: 10 }, (_, i) => `/payments/${nonceOf(i)}`),
  ...[1, 2, 3, 4, 5, 7, 9].flatMap((i) => [
    `POST /payments/${nonceOf(i)}/statement`,
    `POST /payments/${nonceOf(i)}/receipt`,
  ]),
  'POST /totals/statement',
]

const about = { audience: 'https://auditor.example', since: 0, until: nowOfAll }
/** Asks one question. A question with POST says for whom the statement is, and of which period. */
const ask = ({ get, post }: HistoryApp, question: string, role: 'payer' | 'provider') =>
  question.startsWith('POST ') ? post(question.slice('POST '.length), role, about) : get(question, role)

const lower = (text: string) => text.toLowerCase()
const minuteOf = (at: number) => new Date(at * 1000).toISOString().slice(0, 16)
/** A second of a mint: as a number, as a time of a CSV file, and in milliseconds. */
const formsOf = (at: number) => [`${at}`, minuteOf(at)]

const mintsOf = (payments: readonly HistoryPayment[]) =>
  payments.flatMap(({ finalized, lateMinted }) => [finalized, lateMinted].flatMap((each) => each ?? []))

const burnsOf = ({ accepted, late }: HistoryPayment) =>
  [accepted?.burn, late?.burn].flatMap((each) => each ?? [])

/** Fields that are the provider's alone, or nobody's. */
const neverForPayers =
  /"(?:mint|treasury|finalizedAt|recipient|seq|fees|finalized|powNonce|epoch|blockHash)":|mint_|treasury|finalized_at/

let recorded: Awaited<ReturnType<typeof openRecordedHistory>>
let withAddress: HistoryApp
let byNonce: HistoryApp
beforeAll(async () => {
  recorded = await openRecordedHistory(world())
  const real = { books: recorded.history, statements: echoStatements() }
  withAddress = await openHistoryApp(real)
  const participants = participantsOf({ payer: { tenant: 'acme', actor: 'buyer-7' } })
  byNonce = await openHistoryApp({ ...real, participants })
})
afterAll(async () => {
  await Promise.all([withAddress.app.close(), byNonce.app.close()])
  await recorded.close()
})

describe('R-125 a payer with an address', () => {
  it.each(questions)('is told nothing that is not its own by %s', async (question) => {
    withAddress.clock.advance(60_000)
    const { statusCode, body } = await ask(withAddress, question, 'payer')
    expect([200, 404]).toContain(statusCode)
    const text = lower(body)
    expect(body).not.toMatch(neverForPayers)
    const payments = world()
    for (const { mint, at } of mintsOf(payments)) {
      expect(text).not.toContain(mint.txHash)
      for (const form of formsOf(at)) expect(text).not.toContain(lower(form))
    }
    const hidden = [deployment.treasury, otherTreasury, recipient, payerB, payerC, hashOf(0xeee9)]
    for (const each of hidden) expect(text).not.toContain(each)
    for (const burn of payments.flatMap(burnsOf).filter(({ from }) => from !== payerA)) {
      expect(text).not.toContain(burn.txHash)
    }
    for (const { challenge } of [payments[2], payments[5], payments[6]].flatMap((each) => each ?? [])) {
      expect(text).not.toContain(challenge.nonce)
      expect(text).not.toContain(challenge.payTo)
    }
  })

  it('gets its own payments, and the same 404 for those of others, unknown ones and unpaid ones', async () => {
    const answers = new Set<string>()
    for (let i = 0; i < 10; i++) {
      const { statusCode, body } = await withAddress.get(`/payments/${nonceOf(i)}`, 'payer')
      expect(statusCode).toBe((paths.A as readonly number[]).includes(i) ? 200 : 404)
      if (statusCode === 404) answers.add(body)
    }
    expect(answers.size).toBe(1)
    const list = (await withAddress.get('/payments', 'payer')).json()
    expect(list.payments).toHaveLength(paths.A.length)
    expect(list.payments[0].payer).toBe(toChecksum(payerA))
  })

  it('finds a payment that was minted today among the accepted, and one of two days ago among the finalized', async () => {
    const noncesIn = async (query: string) => {
      const { payments } = (await withAddress.get(`/payments?${query}`, 'payer')).json()
      return payments.map(({ challengeNonce }: { challengeNonce: string }) => Number(challengeNonce)).sort()
    }
    expect(await noncesIn('phase=accepted')).toEqual([1, 8, 9])
    expect(await noncesIn('phase=late')).toEqual([5])
    expect(await noncesIn('phase=finalized')).toEqual([2, 4])
    withAddress.clock.advance(2 * 86_400_000)
    expect(await noncesIn('phase=finalized')).toEqual([1, 2, 4, 5])
    withAddress.clock.advance(-2 * 86_400_000)
  })
})

describe('R-125 a payer without an address', () => {
  it.each(questions)('is told no address and no mint by %s', async (question) => {
    byNonce.clock.advance(60_000)
    const { statusCode, body } = await ask(byNonce, question, 'payer')
    const isOne = question.includes('/payments/')
    expect(isOne ? [200, 404] : [400]).toContain(statusCode)
    if (!isOne) expect(JSON.parse(body).reason).toBe('nonce_required')
    const text = lower(body)
    expect(body).not.toMatch(neverForPayers)
    expect(body).not.toMatch(/"(?:payer|payTo|burn|transaction|leafIndex)":/)
    const payments = world()
    for (const { mint, at } of mintsOf(payments)) {
      expect(text).not.toContain(mint.txHash)
      for (const form of formsOf(at)) expect(text).not.toContain(lower(form))
    }
    for (const each of [deployment.treasury, recipient, payerA, payerB, payerC]) {
      expect(text).not.toContain(each)
    }
    for (const burn of payments.flatMap(burnsOf)) expect(text).not.toContain(burn.txHash)
  })
})

describe('R-125 the provider', () => {
  it.each(questions)('is told of no payer that did not disclose itself by %s', async (question) => {
    withAddress.clock.advance(60_000)
    const { statusCode, body } = await ask(withAddress, question, 'provider')
    expect([200, 404]).toContain(statusCode)
    const text = lower(body)
    for (const { challenge, disclosedAt, ...payment } of world()) {
      if (disclosedAt !== undefined) continue
      expect(text).not.toContain(challenge.payTo)
      for (const burn of burnsOf({ challenge, ...payment })) {
        expect(text).not.toContain(burn.txHash)
        expect(text).not.toContain(burn.from)
      }
    }
    for (const each of [otherTreasury, recipient, hashOf(0xeee9)]) expect(text).not.toContain(each)
    expect(body).not.toMatch(/"(?:recipient|seq|powNonce|epoch|blockHash)"/)
  })

  it('sees the payments of its treasury, and of the disclosed one the payer', async () => {
    for (let i = 0; i < 10; i++) {
      const { statusCode } = await withAddress.get(`/payments/${nonceOf(i)}`, 'provider')
      expect(statusCode).toBe((paths.provider as readonly number[]).includes(i) ? 200 : 404)
    }
    const { payment } = (await withAddress.get(`/payments/${nonceOf(7)}`, 'provider')).json()
    expect(payment).toMatchObject({ payer: toChecksum(payerC), disclosedAt: noon + 60 })
    expect(payment.mint.transaction).toBe(world()[6]?.finalized?.mint.txHash)
  })
})

describe('R-125 nobody else', () => {
  const guarded = historyRoutes.filter(({ auth }) => auth)
  const urlOf = (path: string) => path.replace('{challengeNonce}', nonceOf(1))

  const visitors: Record<string, (reason: HistoryApp) => Promise<[Record<string, string>, string]>> = {
    'no token': async () => [{}, 'token_missing'],
    'the operator’s token': async () => [{ authorization: `Bearer ${'a'.repeat(48)}` }, 'token_malformed'],
    'another tenant': async ({ headerOf, tokensOf }) => {
      const participants = participantsOf({ payer: { tenant: 'other', actor: 'buyer-7' } })
      return [await headerOf('payer', tokensOf({ participants })), 'token_tenant']
    },
    'another actor': async ({ headerOf, tokensOf }) => {
      const participants = participantsOf({ provider: { tenant: 'shop', actor: 'till-2' } })
      return [await headerOf('provider', tokensOf({ participants })), 'token_actor']
    },
    'the provider’s names in the payer’s role': async ({ headerOf, tokensOf }) => {
      const participants = participantsOf({ payer: participantsOf().provider })
      return [await headerOf('payer', tokensOf({ participants })), 'token_tenant']
    },
  }

  it.each(
    guarded.flatMap(({ method, path }) =>
      Object.keys(visitors).map((visitor) => ({ method, path, visitor })),
    ),
  )('with $visitor gets into $method $path', async ({ method, path, visitor }) => {
    const [headers, reason] = (await visitors[visitor]?.(withAddress)) ?? [{}, '']
    const answer = await withAddress.app.inject({ method, url: urlOf(path), headers })
    expect([answer.statusCode, answer.json().reason]).toEqual([401, reason])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it.each(guarded)('gets into $method $path with a token past its end', async ({ method, path }) => {
    const headers = await withAddress.headerOf('provider')
    withAddress.clock.advance(900_000)
    const answer = await withAddress.app.inject({ method, url: urlOf(path), headers })
    withAddress.clock.advance(-900_000)
    expect([answer.statusCode, answer.json().reason]).toEqual([401, 'token_expired'])
  })

  it('the clock of these tests stands on the day of the mints', () => {
    expect(withAddress.clock.now() / 1000 - nowOfAll).toBeLessThan(43_200 - 7_200)
  })
})

describe('R-125 disclosure', () => {
  it('is the payer’s alone, for its own payments, and lets the provider see payer and burn', async () => {
    const own = await openHistoryApp({ payments: world() })
    const path = (seed: number) => `/payments/${nonceOf(seed)}/disclose`
    expect((await own.post(path(1), 'provider')).json().reason).toBe('not_entitled')
    expect((await byNonce.post(path(1), 'payer')).statusCode).toBe(403)
    for (const seed of [0, 3, 6, 7]) expect((await own.post(path(seed), 'payer')).statusCode).toBe(404)
    const { statusCode, body } = await own.post(path(1), 'payer')
    expect(statusCode).toBe(200)
    expect(JSON.parse(body).payment.disclosedAt).toBe(nowOfAll)
    expect((await own.post(path(1), 'payer')).body).toBe(body)
    const { payment } = (await own.get(`/payments/${nonceOf(1)}`, 'provider')).json()
    expect(payment).toMatchObject({ payer: toChecksum(payerA), accepted: { burn: { leafIndex: '1' } } })
    const { payments } = (await own.get('/payments', 'provider')).json()
    expect(payments.filter(({ payer }: { payer?: string }) => payer !== undefined)).toHaveLength(2)
    await own.app.close()
  })

  it('of a payment that a reorg gives to somebody else meanwhile ends like that of any other payment', async () => {
    const payments = world()
    const disclose = async () => void payments.splice(0, 1, historyPaymentOf(1, { payer: payerB }))
    const own = await openHistoryApp({ payments, disclose })
    const { statusCode, body } = await own.post(`/payments/${nonceOf(1)}/disclose`, 'payer')
    expect(statusCode).toBe(404)
    expect(body).toBe((await own.get(`/payments/${nonceOf(0)}`, 'payer')).body)
    await own.app.close()
  })
})
