import type { UnixSeconds } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  deployment,
  nonceOf,
  permitPayloadOf,
  units,
} from '../../test/challenges.js'
import { openTestStore, stores } from '../../test/store.js'
import { amountOf, payerOf, timeOf } from '../payment/records.js'
import type { HistoryFilter, HistoryQuery } from './answers.js'
import { type HistoryPayment, mintsOf, phaseOf, toldFinalityAt } from './payment.js'

const { treasury } = deployment
const anyValue = fc.constantFrom(900n, 1000n, 5000n, 10n ** 30n)
const anyStory = fc.record({
  payer: fc.integer({ min: 1, max: 2 }),
  value: anyValue,
  isAccepted: fc.boolean(),
  isMinted: fc.boolean(),
  late: fc.option(anyValue, { nil: undefined }),
  isLateMinted: fc.boolean(),
})
type Story = typeof anyStory extends fc.Arbitrary<infer T> ? T : never

async function storeOf(stories: readonly Story[]) {
  const clock = stoppedClock()
  const store = await openTestStore({}, clock)
  const { ledger } = store
  for (const [i, story] of stories.entries()) {
    const challenge = challengeOf(i + 1)
    const { nonce } = challenge
    const burn = (seed: number, value: bigint) => ({
      ...burnOf(seed),
      value: units(value),
      from: addressOf(story.payer),
    })
    await ledger.issue(challenge)
    clock.advance(1_000)
    if (story.isAccepted) {
      await ledger.claim(nonce, permitPayloadOf(challenge, { nonce: BigInt(i) }))
      await ledger.accept(nonce, burn(100 + i, story.value))
      if (story.isMinted) await ledger.finalize(nonce, { value: units(story.value) }, units(story.value))
    }
    if (story.late === undefined) continue
    const recorded = await ledger.recordLate(challenge, burn(200 + i, story.late), 'late')
    const isNext = !story.isAccepted || story.isMinted
    if (recorded === 'recorded' && story.isLateMinted && isNext) {
      await ledger.finalize(nonce, { value: units(story.late) }, units(story.late))
    }
  }
  return store
}

/** The model: every payment, looked at one by one. */
function takes({
  scope,
  phase,
  since = 0,
  until = 2 ** 40,
  amountMin = units(0n),
  amountMax,
  finalityBefore,
}: HistoryFilter) {
  return (payment: HistoryPayment): boolean => {
    const { finalized, ...unminted } = payment
    const burnedAt = payment.accepted?.at ?? payment.late?.at ?? 0
    const isTold =
      finalized && (finalityBefore === undefined || toldFinalityAt(burnedAt, finalized.at) < finalityBefore)
    const told = isTold ? payment : unminted
    const isOf =
      scope.kind === 'treasury'
        ? payment.challenge.treasury === scope.treasury
        : payerOf(payment) === scope.payer
    const amount = amountOf(payment)
    return (
      isOf &&
      (phase === undefined || phaseOf(told) === phase) &&
      timeOf(payment) >= since &&
      timeOf(payment) < until &&
      amount >= amountMin &&
      (amountMax === undefined || amount <= amountMax)
    )
  }
}

const noncesOf = (payments: readonly HistoryPayment[]) => payments.map(({ challenge }) => challenge.nonce)

describe('the history of the store', () => {
  it('gives the pages, lists and totals that looking at every payment would give', async () => {
    const first = 1_700_000_000
    const anyFilter = fc.record({
      scope: fc.constantFrom(
        { kind: 'treasury', treasury } as const,
        { kind: 'payer', payer: addressOf(1) } as const,
      ),
      phase: fc.constantFrom(undefined, 'challenged', 'accepted', 'finalized', 'late'),
      since: fc.constantFrom(undefined, first + 3),
      amountMin: fc.constantFrom(undefined, units(1000n)),
      amountMax: fc.constantFrom(undefined, units(5000n)),
      finalityBefore: fc.constantFrom(undefined, first as UnixSeconds, (first + 172_800) as UnixSeconds),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyStory, { maxLength: 12 }), anyFilter, async (stories, given) => {
        const { history, close } = await storeOf(stories)
        const filter = given as HistoryFilter
        const every = await Promise.all(stories.map((_, i) => history.find(nonceOf(i + 1))))
        const all = every.flatMap((payment) => payment ?? [])
        const wanted = all.filter(takes(filter))
        const seen: HistoryPayment[] = []
        let after: string | undefined
        do {
          const page = await history.page({ ...filter, limit: 3, after } as HistoryQuery)
          if (page === 'bad_cursor') throw new Error(page)
          seen.push(...page.payments)
          after = page.next
        } while (after)
        expect(noncesOf(seen).toSorted()).toEqual(noncesOf(wanted).toSorted())
        const places = seen.map(timeOf)
        expect(places).toEqual(places.toSorted((a, b) => b - a))
        const listed: HistoryPayment[] = []
        for await (const payment of history.all(filter)) listed.push(payment)
        expect(noncesOf(listed).toSorted()).toEqual(noncesOf(wanted).toSorted())
        const totals = await history.totals({ kind: 'treasury', treasury }, { since: 0, until: 2 ** 40 })
        const sum = (amounts: readonly bigint[]) => ({
          payments: amounts.length,
          amount: amounts.reduce((a, b) => a + b, 0n),
        })
        expect(totals.accepted).toEqual(sum(all.flatMap(({ accepted }) => accepted?.burn.value ?? [])))
        expect(totals.finalized).toEqual(sum(all.flatMap(mintsOf).map(({ mint }) => mint.value)))
        await close()
      }),
      { numRuns: stores },
    )
  })

  it('refuses a cursor that no page gave', async () => {
    const { history, close } = await storeOf([])
    const query = { scope: { kind: 'treasury', treasury }, limit: 3 } as const
    for (const after of ['', 'x', Buffer.from('["amount",1,1]').toString('base64url'), 'e30']) {
      expect(await history.page({ ...query, after })).toBe('bad_cursor')
    }
    await close()
  })
})
