import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, hashOf, seconds, units } from '../../test/challenges.js'
import type { LedgerEvent } from '../ledger/events/events.js'
import { decodeLine, encodeLine } from '../ledger/journal/line.js'
import { createLedgerState } from '../ledger/state/state.js'
import type { RecordedPayment } from '../payment/books.js'
import type { Burn } from '../payment/records.js'
import { newRecords } from './new-records.js'
import { type HistoryPayment, mintsOf, phaseOf } from './payment.js'
import { fold, type HistoryRecord, nonceIn } from './record.js'
import { readRecord, toFields } from './record-line.js'
import { seenBy, sightOf, turnsSeenBy } from './scopes.js'

const challenge = challengeOf(1)
const { nonce } = challenge
const now = seconds(1_700_000_100)
const issued: RecordedPayment = { challenge, granted: false }
const kindsOf = (records: readonly HistoryRecord[]) => records.map(({ event }) => event)

/** A history in memory: views and records of one payment. */
function createMemory() {
  const records: HistoryRecord[] = []
  let view: HistoryPayment | undefined
  return {
    records,
    view: () => view,
    add(made: readonly HistoryRecord[]) {
      for (const record of made) {
        records.push(record)
        view = fold(view, record, records.length)
      }
      return kindsOf(made)
    },
    note(payment: RecordedPayment, isOlder = false) {
      return this.add(newRecords(view, payment, now, isOlder))
    },
  }
}

const atPlace = (burn: Burn, place: number): Burn => ({ ...burn, blockHash: hashOf(900 + place) })
const acceptedAt = (at: number, burn = burnOf(1)) => ({ accepted: { burn, at: seconds(at) } })
const mintedAt = (at: number, value = 1000n) => ({
  mint: { txHash: hashOf(at), blockNumber: 7n, value: units(value) },
  at: seconds(at),
})

describe('the records that a payment adds', () => {
  it('has one for every transition, and none for what is known', () => {
    const history = createMemory()
    expect(history.note(issued)).toEqual(['challenged'])
    expect(history.note({ ...issued, ...acceptedAt(5) })).toEqual(['accepted'])
    expect(history.note({ ...issued, ...acceptedAt(5, atPlace(burnOf(1), 2)) })).toEqual(['moved'])
    const done = { ...issued, ...acceptedAt(5, atPlace(burnOf(1), 2)), finalized: mintedAt(9) }
    expect(history.note(done)).toEqual(['finalized'])
    expect(history.note({ ...done, granted: true, swept: true })).toEqual([])
    expect(history.view()).toMatchObject({ finalized: mintedAt(9), unmatched: [] })
    expect(history.view()?.turns.map(({ seq, kind, at }) => [seq, kind, at])).toEqual([
      [1, 'challenged', challenge.issuedAt],
      [2, 'accepted', 5],
      [3, 'moved', now],
      [4, 'finalized', 9],
    ])
  })

  it('takes an accepted payment back only when the payment says so', () => {
    const history = createMemory()
    const accepted = { ...issued, ...acceptedAt(5) }
    history.note(accepted)
    expect(history.note(issued)).toEqual([])
    expect(history.note({ ...issued, demoted: accepted.accepted })).toEqual(['demoted'])
    expect(phaseOf(history.view() as HistoryPayment)).toBe('challenged')
    expect(history.note({ ...issued, demoted: accepted.accepted })).toEqual([])
    expect(history.note({ ...issued, ...acceptedAt(8, burnOf(2)) })).toEqual(['accepted'])
    // The old loss of a burn does not concern the new one.
    expect(history.note({ ...issued, demoted: accepted.accepted })).toEqual([])
  })

  it('infers the loss of a burn from a later acceptance', () => {
    const history = createMemory()
    history.note({ ...issued, ...acceptedAt(5) })
    expect(history.note({ ...issued, ...acceptedAt(8, burnOf(2)) })).toEqual(['demoted', 'accepted'])
    expect(history.note({ ...issued, ...acceptedAt(5) })).toEqual([])
  })

  it('takes nothing back and moves nothing because of an older journal', () => {
    const history = createMemory()
    const place = atPlace(burnOf(1), 2)
    history.note({ ...issued, ...acceptedAt(5) })
    history.note({ ...issued, ...acceptedAt(5, place) })
    expect(history.note({ ...issued, ...acceptedAt(5) }, true)).toEqual([])
    expect(history.note({ ...issued, demoted: { burn: burnOf(1), at: seconds(5) } }, true)).toEqual([])
    expect(history.view()?.accepted?.burn).toEqual(place)
    history.note({ ...issued, demoted: { burn: place, at: seconds(5) } })
    expect(history.note({ ...issued, ...acceptedAt(5) }, true)).toEqual([])
  })

  it('the burn of a recovered journal, which calls it late, is the one that the history knows as accepted', () => {
    const history = createMemory()
    history.note({ ...issued, ...acceptedAt(5) })
    const recovered = { ...issued, late: burnOf(1), lateReason: 'unrecorded' } as const
    expect(history.note(recovered, true)).toEqual([])
    expect(history.note({ ...recovered, finalized: mintedAt(9) }, true)).toEqual(['finalized'])
    expect(history.note({ ...recovered, finalized: mintedAt(9) })).toEqual([])
    expect(history.view()).toMatchObject({ ...acceptedAt(5), finalized: mintedAt(9) })
    expect(history.view()).not.toHaveProperty('late')
    // The chain has put it into another block since, and more was paid to the same address.
    expect(history.note({ ...recovered, late: atPlace(burnOf(1), 2) })).toEqual(['moved'])
    expect(history.note({ ...recovered, late: { ...burnOf(2), value: units(5000n) } })).toEqual(['late'])
  })

  it('a larger late burn replaces a smaller one, and keeps its mint in the sum', () => {
    const history = createMemory()
    const large = { ...burnOf(3), value: units(1500n) }
    const first = { ...issued, late: burnOf(2), finalized: mintedAt(now + 5) }
    expect(history.note(first)).toEqual(['challenged', 'late', 'finalized'])
    expect(history.note({ ...issued, late: large })).toEqual(['late'])
    expect(history.view()).not.toHaveProperty('finalized')
    // An older journal still speaks of the first burn and of its mint.
    expect(history.note(first, true)).toEqual([])
    expect(history.note({ ...issued, late: large, finalized: mintedAt(now + 9, 500n) })).toEqual([
      'finalized',
    ])
    const minted = mintsOf(history.view() as HistoryPayment).map(({ mint }) => mint.value)
    expect(minted).toEqual([1000n, 500n])
  })

  it('the time of a late burn is not before the burn and tells nothing of its mint, whenever the history hears of both', () => {
    const later = seconds(challenge.expiresAt + 100)
    const timeOf = (known: HistoryPayment | undefined, finalized?: ReturnType<typeof mintedAt>) => {
      const records = newRecords(
        known,
        { ...issued, late: burnOf(2), ...(finalized && { finalized }) },
        later,
      )
      return records.flatMap((record) => (record.event === 'late' ? [record.at] : []))
    }
    const history = createMemory()
    history.note(issued)
    for (const finalized of [undefined, mintedAt(50), mintedAt(later - 1), mintedAt(later)]) {
      for (const known of [undefined, history.view()]) expect(timeOf(known, finalized)).toEqual([later])
    }
  })

  it('the leave of a payer does not speak for another account that takes its place', () => {
    const stranger = { ...burnOf(2), from: addressOf(0xbad) }
    const disclosed = { event: 'disclosed', nonce, payer: burnOf(1).from, at: now } as const
    const seen = (...payments: Partial<RecordedPayment>[]) => {
      const history = createMemory()
      history.note({ ...issued, ...payments[0] })
      history.add([disclosed])
      for (const payment of payments.slice(1)) history.note({ ...issued, ...payment })
      return history.view()?.disclosedAt
    }
    const accepted = acceptedAt(5)
    expect(seen(accepted)).toBe(now)
    expect(seen(accepted, acceptedAt(5, atPlace(burnOf(1), 2)), { ...accepted, late: stranger })).toBe(now)
    // A reorg took the burn, and somebody else paid.
    expect(seen(accepted, { demoted: accepted.accepted }, acceptedAt(9, stranger))).toBeUndefined()
    // A larger burn of somebody else.
    const larger = { ...stranger, value: units(5000n) }
    expect(seen({ late: burnOf(1) }, { late: larger })).toBeUndefined()
    // Written for an account that is no longer the payer.
    expect(seen(acceptedAt(5, stranger))).toBeUndefined()
  })

  it('catches up with a burn that came back and went away again, and with a mint behind a larger burn', () => {
    const gone = createMemory()
    for (const each of [issued, { ...issued, ...acceptedAt(5) }]) gone.note(each)
    expect(gone.note({ ...issued, demoted: acceptedAt(9).accepted })).toEqual([
      'demoted',
      'accepted',
      'demoted',
    ])
    expect(gone.note({ ...issued, demoted: acceptedAt(9).accepted })).toEqual([])
    expect(gone.view()).not.toHaveProperty('accepted')
    const minted = createMemory()
    const larger = { ...burnOf(3), value: units(5000n) }
    minted.note({ ...issued, late: burnOf(2), finalized: mintedAt(3) })
    const now = { ...issued, ...acceptedAt(5), late: larger, finalized: mintedAt(7) }
    expect(minted.note(now)).toEqual(['late', 'accepted', 'finalized'])
    expect(minted.note(now)).toEqual([])
    expect(minted.view()).toMatchObject({ finalized: mintedAt(7), mintedBefore: [mintedAt(3)] })
  })

  it('keeps the first turn and the newest of very many', () => {
    const history = createMemory()
    history.note(issued)
    for (let i = 0; i < 100; i++) {
      history.note({ ...issued, late: { ...burnOf(2), value: units(BigInt(i + 1)) } })
    }
    const seqs = history.view()?.turns.map(({ seq }) => seq) ?? []
    expect(seqs).toHaveLength(64)
    expect([seqs[0], seqs[1], seqs.at(-1)]).toEqual([1, 39, 101])
  })

  it('a mint pushes no other turn out, however many there are: its payer would see it come', () => {
    const history = createMemory()
    history.note(issued)
    const late = (i: number) => ({ ...burnOf(2), value: units(BigInt(i + 1)) })
    for (let i = 0; i < 100; i++) history.note({ ...issued, late: late(i) })
    const payer = sightOf('payer', { payer: {}, provider: {} }, challenge.treasury)
    const told = () => {
      const view = history.view()
      return view && [seenBy(payer, view, now), turnsSeenBy(payer, view, now)]
    }
    const before = told()
    for (let i = 0; i < 100; i++) {
      const mint = { mint: { value: units(1n) }, at: seconds(now - 1) }
      history.add([{ event: 'finalized', nonce, of: 'late', ...mint }])
      expect(told()).toEqual(before)
    }
    expect(history.view()?.turns.filter(({ kind }) => kind === 'finalized')).toHaveLength(64)
    expect(history.view()?.turns[0]?.kind).toBe('challenged')
  })

  it('a loss that is recorded stays known behind very many turns', () => {
    const history = createMemory()
    const lost = { ...issued, demoted: { burn: burnOf(1), at: seconds(5) } }
    expect(history.note(lost)).toEqual(['challenged', 'accepted', 'demoted'])
    for (let i = 0; i < 100; i++) {
      expect(history.note({ ...lost, late: { ...burnOf(2), value: units(BigInt(i + 1)) } })).toEqual(['late'])
    }
  })

  it('a record whose challenge is missing is an error of the file', () => {
    expect(() => fold(undefined, { event: 'demoted', nonce, at: now }, 7)).toThrow(/before its challenge/)
  })
})

/** Events of one payment, as the ledger could record them in any order. */
const anyStep: fc.Arbitrary<LedgerEvent> = fc.oneof(
  fc.constant({
    event: 'payment_claimed' as const,
    nonce,
    identity: 'a'.repeat(32),
    ticketed: false,
    payload: {
      kind: 'self-transfer' as const,
      read: () => ({ kind: 'self-transfer' as const, challengeNonce: nonce, burnTxHash: hashOf(1) }),
    },
  }),
  fc.constant({ event: 'claim_released' as const, nonce }),
  fc.constant({ event: 'payment_demoted' as const, nonce }),
  fc.constant({ event: 'grant_used' as const, nonce }),
  fc.nat({ max: 5 }).map((seed) => ({ event: 'payment_accepted' as const, nonce, burn: burnOf(seed) })),
  fc.nat({ max: 5 }).map((seed) => ({ event: 'burn_moved' as const, nonce, burn: atPlace(burnOf(1), seed) })),
  fc.nat({ max: 9 }).map((seed) => ({
    event: 'burn_late' as const,
    challenge,
    burn: { ...burnOf(seed), value: units(BigInt(seed * 300)) },
    reason: 'second' as const,
  })),
  fc.constant({ event: 'payment_finalized' as const, nonce }),
  fc.nat({ max: 3 }).map((seed) => ({
    event: 'burn_unmatched' as const,
    nonce,
    txHash: hashOf(500 + seed),
    reason: 'burn_split',
  })),
) as fc.Arbitrary<LedgerEvent>

/** Times run on, and every mint is another one. */
const timed = (event: LedgerEvent, i: number): LedgerEvent =>
  ({
    ...event,
    at: seconds(1_700_000_000 + i),
    ...(event.event === 'payment_finalized' && mintedAt(i + 1)),
  }) as LedgerEvent

/** A burn that moves is the same transfer at another place. */
function movedOf(payment: RecordedPayment | undefined, step: Extract<LedgerEvent, { event: 'burn_moved' }>) {
  const { accepted, late, finalized } = payment ?? {}
  const burn = accepted && !finalized ? accepted.burn : (late ?? step.burn)
  return { ...step, burn: { ...burn, blockHash: step.burn.blockHash } }
}

const sumOf = (payment: RecordedPayment) => ({
  accepted: payment.accepted,
  late: payment.late,
  finalized: payment.finalized,
  lateMinted: payment.lateMinted,
  unmatched: payment.unmatched ?? [],
})

const viewSumOf = (view: HistoryPayment | undefined) => ({
  accepted: view?.accepted,
  late: view?.late?.burn,
  finalized: view?.finalized,
  lateMinted: view?.lateMinted,
  unmatched: view?.unmatched,
})

describe('the history of any course of a payment', () => {
  /** The payments of the ledger behind each step, as they were then. */
  function courseOf(steps: readonly LedgerEvent[]): RecordedPayment[] {
    const state = createLedgerState()
    state.apply({ event: 'challenge_issued', challenge })
    const course = [{ ...(state.find(nonce) as RecordedPayment) }]
    steps.forEach((step, i) => {
      // The ledger records no end of a payment that has none.
      const payment = state.find(nonce)
      if (step.event === 'claim_released' && payment?.demoted) return
      if (step.event === 'payment_accepted' && (!payment?.claim || payment.accepted)) return
      if (step.event === 'grant_used' && !payment?.accepted) return
      if (step.event === 'payment_claimed' && payment?.claim) return
      state.apply(timed(step.event === 'burn_moved' ? movedOf(payment, step) : step, i))
      course.push({ ...(state.find(nonce) as RecordedPayment) })
    })
    return course
  }

  it('adds up to the ledger when every step is noted, and noting again adds nothing', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), (steps) => {
        const history = createMemory()
        for (const payment of courseOf(steps)) {
          history.note(payment)
          expect(viewSumOf(history.view())).toEqual(sumOf(payment))
          expect(history.note(payment)).toEqual([])
        }
      }),
      { numRuns: 500 },
    )
  })

  it('adds up to the ledger at the next note, whichever notes were lost, and has every mint of those it heard of', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), fc.infiniteStream(fc.boolean()), (steps, isHeard) => {
        const history = createMemory()
        const course = courseOf(steps)
        for (const [i, payment] of course.entries()) {
          if (i < course.length - 1 && !isHeard.next().value) continue
          history.note(payment)
          expect(viewSumOf(history.view())).toEqual(sumOf(payment))
          expect(history.note(payment)).toEqual([])
        }
        const made = history.records.filter(({ event }) => event === 'finalized')
        const times = made.map((record) => (record as { at: number }).at)
        expect(new Set(times).size).toBe(times.length)
        expect(mintsOf(history.view() as HistoryPayment).map(({ at }) => at)).toEqual(
          expect.arrayContaining(times),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('an older journal adds nothing that is known, and takes nothing back', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), fc.nat(), (steps, cut) => {
        const history = createMemory()
        const course = courseOf(steps)
        for (const payment of course) history.note(payment)
        const before = history.view()
        const older = course[cut % course.length] as RecordedPayment
        history.note(older, true)
        expect(history.view()).toEqual(before)
      }),
      { numRuns: 500 },
    )
  })

  it('gives back the same records from their lines', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
        const history = createMemory()
        for (const payment of courseOf(steps)) history.note(payment)
        history.add([{ event: 'disclosed', nonce, payer: burnOf(1).from, at: now }])
        for (const [i, record] of history.records.entries()) {
          const line = decodeLine(Buffer.from(encodeLine(i + 1, toFields(record)).slice(0, -1)))
          if (!line.ok) throw new Error(line.message)
          expect(readRecord(line.value)).toEqual(record)
          expect(nonceIn(record)).toBe(nonce)
        }
      }),
      { numRuns: 300 },
    )
  })
})

it('reads a record whose fields are in another order, and refuses one of a newer version', () => {
  const fields = toFields({ event: 'late', nonce, burn: burnOf(1), reason: 'second', at: now })
  const { event, ...rest } = fields
  const turned = { ...Object.fromEntries(Object.entries(rest).reverse()), event }
  const read = (given: typeof fields) => {
    const line = decodeLine(Buffer.from(encodeLine(1, given).slice(0, -1)))
    if (!line.ok) throw new Error(line.message)
    return readRecord(line.value)
  }
  expect(read(turned)).toEqual(read(fields))
  expect(() => read({ event: 'refunded', nonce })).toThrow(/unknown here/)
})
