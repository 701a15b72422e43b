/** Totals that are shared by everybody who uses the same cell. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../clock.js'
import type { Cell } from '../store/cell.js'
import type { Verdict } from '../verdict.js'
import { type Cap, judgeCaps } from './caps.js'
import {
  emptyState,
  priceOf,
  type Reservation,
  reservationOf,
  type SpendState,
  type Used,
  usedOf,
  withoutReservation,
  withReservation,
  withSpent,
} from './spend-state.js'

export type Reserved = { readonly owner: string } | { readonly refused: Verdict }

export type Totals = {
  used(pair: string, host: string): Promise<Used>
  /** The price that a route is compared with. Undefined when nothing was paid there. */
  price(pair: string, route: string): Promise<bigint | undefined>
  reservation(nonce: ChallengeNonce): Promise<Reservation | undefined>
  /**
   * Atomic over all processes: reserves the amount if it fits beneath every cap, and tells the cap that
   * refused it otherwise. A challenge that already has a reservation keeps it, and its owner is told.
   */
  reserve(nonce: ChallengeNonce, reservation: Reservation, caps: readonly Cap[]): Promise<Reserved>
  /**
   * Atomic: gives the reservation of a challenge a new owner if the terms are the same. Resolves with the
   * reservation as it then is, or undefined when there is none. The owner before can no longer release it.
   */
  takeOver(nonce: ChallengeNonce, by: Pick<Reservation, 'owner' | 'terms'>): Promise<Reservation | undefined>
  /** Notes that a human approved a reservation and its price. */
  approve(nonce: ChallengeNonce): Promise<void>
  /** Turns the reservation into money spent. */
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
}: {
  readonly cell: Cell<SpendState>
  readonly clock: Clock
}): Totals {
  const state = async () => (await cell.read()) ?? emptyState
  const change = async (next: (before: SpendState) => SpendState) => {
    await cell.update((before = emptyState) => next(before))
  }

  return {
    state,
    used: async (pair, host) => usedOf(await state(), pair, host, clock.now()),
    reservation: async (nonce) => reservationOf(await state(), nonce),
    price: async (pair, route) => priceOf(await state(), pair, route),

    async reserve(nonce, reservation, caps) {
      let reserved: Reserved = reservation
      await change((before) => {
        const known = reservationOf(before, nonce)
        const used = usedOf(before, reservation.pair, reservation.host, clock.now())
        const verdicts = judgeCaps(caps, used, BigInt(reservation.amount))
        const refused = known ? undefined : verdicts.find(({ passes }) => passes === 'no')
        reserved = refused ? { refused } : (known ?? reservation)
        return refused || known ? before : withReservation(before, nonce, reservation)
      })
      return reserved
    },

    async takeOver(nonce, { owner, terms }) {
      let taken: Reservation | undefined
      await change((before) => {
        const known = reservationOf(before, nonce)
        taken = known?.terms === terms ? { ...known, owner } : known
        return taken === undefined || taken === known ? before : withReservation(before, nonce, taken)
      })
      return taken
    },

    approve: (nonce) =>
      change((before) => {
        const reservation = reservationOf(before, nonce)
        if (!reservation || reservation.isApproved) return before
        return withReservation(before, nonce, { ...reservation, isGranted: true, isApproved: true })
      }),
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
