/**
 * Caps over several payments, and the totals they bound, which everybody shares who uses the same cell. A cap is judged while the
 * amount is reserved, so that no other payment gets in between. The cap of one payment is a rule of its offer: `offer-rules.ts`.
 */
import type { BaseUnits, ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import type { PayerErrorCode } from '../payer-error.js'
import type { RuleName, Verdict } from '../verdict.js'
import { memoryFull, unknownHost } from './payments.js'
import {
  emptyState,
  type Place,
  priceOf,
  type Reservation,
  reservationOf,
  type SpendState,
  type Used,
  usedOf,
  withoutFarHours,
  withoutReservation,
  withPrice,
  withReservation,
  withSpent,
  withTxNonce,
} from './spend-state.js'
import type { Cell } from './versioned-file.js'

export type Cap = {
  readonly rule: RuleName
  readonly counts: 'total' | 'host' | 'day'
  readonly max: BaseUnits | undefined
  readonly code: PayerErrorCode
}

/** The amounts of a policy that count over several payments, in base units; undefined is no cap. */
type CapAmounts = {
  readonly maxTotal: BaseUnits | undefined
  readonly maxPerHost: BaseUnits | undefined
  readonly maxPerDay: BaseUnits | undefined
}

export const capsOf = ({ maxTotal, maxPerHost, maxPerDay }: CapAmounts): readonly Cap[] => [
  { rule: 'total', counts: 'total', max: maxTotal, code: 'total_exceeded' },
  { rule: 'per-host', counts: 'host', max: maxPerHost, code: 'host_total_exceeded' },
  { rule: 'per-day', counts: 'day', max: maxPerDay, code: 'day_total_exceeded' },
]

export const judgeCaps = (caps: readonly Cap[], used: Used, amount: bigint): Verdict[] =>
  caps.map(({ rule, counts, max, code }) => ({
    rule,
    passes: max !== undefined && used[counts] + amount > max ? 'no' : 'yes',
    limit: max === undefined ? 'unlimited' : `${max}`,
    asked: `${amount} above ${used[counts]} already spent or reserved`,
    code,
  }))

/** What may still be spent beneath every cap, today's and the host's included. Undefined without caps. */
export function leftOf(caps: readonly Cap[], used: Used): bigint | undefined {
  const lefts = caps.flatMap(({ max, counts }) => (max === undefined ? [] : [max - used[counts]]))
  const least = lefts.reduce<bigint | undefined>(
    (least, left) => (least === undefined || left < least ? left : least),
    undefined,
  )
  return least !== undefined && least < 0n ? 0n : least
}

/** `taken`: the challenge has a reservation of another owner, or with other terms, or has none that could be signed for. */
export type Reserved = 'reserved' | 'taken' | { readonly refused: Verdict }

export type Totals = {
  /** What counts against the caps. The reservation of `except`, if there is one, is left out. */
  used(pair: string, place: Place, except?: ChallengeNonce): Promise<Used>
  /** The price that a route is compared with. Undefined when nothing was paid there. */
  price(pair: string, route: string): Promise<bigint | undefined>
  reservation(nonce: ChallengeNonce): Promise<Reservation | undefined>
  /**
   * Atomic over all processes: reserves the amount if it fits beneath every cap, and tells the cap that
   * refused it otherwise. A reservation that the owner already has is judged like a new one, and stays when
   * it is refused. Rejects with `memory_full` where too much is reserved at its host.
   */
  reserve(nonce: ChallengeNonce, reservation: Reservation, caps: readonly Cap[]): Promise<Reserved>
  /**
   * The last judgement before a signature: the owner's reservation must still be there and still fit beneath
   * every cap. The price is remembered from then on.
   */
  sign(
    nonce: ChallengeNonce,
    reservation: Reservation,
    caps: readonly Cap[],
    isApproved: boolean,
  ): Promise<Reserved>
  /**
   * Atomic: gives the reservation of a challenge a new owner if the terms are the same. Resolves with the
   * reservation as it then is, or undefined when there is none. The owner before can no longer release it.
   */
  takeOver(nonce: ChallengeNonce, by: Pick<Reservation, 'owner' | 'terms'>): Promise<Reservation | undefined>
  /** Notes which txNonce the signed transfer of a challenge takes. */
  noteTxNonce(nonce: ChallengeNonce, txNonce: number): Promise<void>
  /** Turns the reservation into money spent. Those of other transfers with its txNonce count no more. */
  spend(nonce: ChallengeNonce): Promise<void>
  /**
   * Ends a reservation whose money will never be asked for. Returns false, and changes nothing, if it has
   * another owner.
   */
  release(nonce: ChallengeNonce, owner: string): Promise<boolean>
  state(): Promise<SpendState>
}

export function createTotals({
  cell,
  clock,
  limits: { reservedPerHostMax },
}: {
  readonly cell: Cell<SpendState>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'reservedPerHostMax'>
}): Totals {
  const near = (given = emptyState) => withoutFarHours(given, clock.now())
  /** Hours far ahead are moved for good: moved at each look, they would be the present hour for ever. */
  const state = async () => {
    const read = (await cell.read()) ?? emptyState
    return near(read) === read ? read : cell.update(near)
  }
  const change = async (next: (before: SpendState) => SpendState) => {
    await cell.update((before = emptyState) => next(before))
  }

  /** Judges an amount with its own reservation left out, so that it counts exactly once. */
  const judged = async (
    nonce: ChallengeNonce,
    reservation: Reservation,
    caps: readonly Cap[],
    next: (before: SpendState, known: Reservation | undefined) => SpendState | undefined,
  ): Promise<Reserved> => {
    const { pair, owner, terms, amount } = reservation
    let reserved: Reserved = 'reserved'
    await change((given) => {
      const before = near(given)
      const known = reservationOf(before, nonce)
      const after = next(before, known)
      const isTaken = known !== undefined && (known.owner !== owner || known.terms !== terms)
      const used = usedOf(withoutReservation(before, nonce), pair, reservation, clock.now())
      const refused = judgeCaps(caps, used, BigInt(amount)).find(({ passes }) => passes === 'no')
      reserved = isTaken || after === undefined ? 'taken' : refused ? { refused } : 'reserved'
      return reserved === 'reserved' && after ? after : before
    })
    return reserved
  }

  return {
    state,
    async used(pair, place, except) {
      const all = await state()
      return usedOf(except ? withoutReservation(all, except) : all, pair, place, clock.now())
    },
    reservation: async (nonce) => reservationOf(await state(), nonce),
    price: async (pair, route) => priceOf(await state(), pair, route),

    reserve: (nonce, reservation, caps) =>
      judged(nonce, reservation, caps, (before) => {
        const { host } = reservation
        const there = Object.values(withoutReservation(before, nonce).reservations).filter(
          (each) => each.host === host,
        )
        // Beneath a client that tells no host, this would refuse them all.
        if (host !== unknownHost && there.length >= reservedPerHostMax) throw memoryFull(host, there.length)
        return withReservation(before, nonce, reservation)
      }),

    sign: (nonce, reservation, caps, isApproved) =>
      judged(
        nonce,
        reservation,
        caps,
        (before, known) => known && withPrice(before, reservation, isApproved),
      ),

    async takeOver(nonce, { owner, terms }) {
      let taken: Reservation | undefined
      await change((before) => {
        const known = reservationOf(before, nonce)
        taken = known?.terms === terms ? { ...known, owner } : known
        return taken === undefined || taken === known ? before : withReservation(before, nonce, taken)
      })
      return taken
    },

    noteTxNonce: (nonce, txNonce) => change((before) => withTxNonce(before, nonce, txNonce)),

    spend: (nonce) => change((before) => withSpent(before, nonce)),
    async release(nonce, owner) {
      let isReleased = false
      await change((before) => {
        isReleased = reservationOf(before, nonce)?.owner === owner
        return isReleased ? withoutReservation(before, nonce) : before
      })
      return isReleased
    },
  }
}
