/**
 * Money at issued addresses that single proofs do not bring. It is shown to the operator, and kept from being
 * forgotten.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { Books } from '../../payment/books.js'
import {
  countedOf,
  type FoundTransfer,
  type StuckAddress,
  totalOf,
} from '../../payment/found/judge-transfers.js'
import type { Clock } from '../../payment/ports.js'
import type { Challenge, RecordedPayment } from '../../payment/records.js'
import type { DoTransfersMatter, IssuedStore } from './issued-store.js'

export type Stuck = {
  /** Whether an address past its retention is kept: it is under way, or the money there is worth a mint. */
  readonly matter: DoTransfersMatter
  /** Addresses with money that a single proof does not bring; the newest first, at most `countMax`. */
  stuck(countMax: number): Promise<readonly StuckAddress[]>
}

export function createStuck(deps: {
  readonly store: Pick<IssuedStore, 'find' | 'kept'>
  readonly ledger: { readonly books: Books }
  readonly dustBelow: bigint
  /** Unix seconds. */
  readonly now: () => number
}): Stuck {
  const { store, ledger, now } = deps

  const isUndecided = (challenge: Challenge, payment: RecordedPayment | undefined): boolean =>
    payment !== undefined &&
    !payment.accepted &&
    !payment.late &&
    now() < Math.max(challenge.expiresAt, payment.claim ? (challenge.deadline ?? 0) : 0)

  async function stuckAt(
    payTo: Address,
    transfers: readonly FoundTransfer[],
  ): Promise<StuckAddress | undefined> {
    const [challenge] = await store.find([payTo])
    if (!challenge) return undefined
    const payment = await ledger.books.find(challenge.nonce)
    const stuck = stuckOf(transfers, payment)
    if (isUndecided(challenge, payment) || stuck <= 0n) return undefined
    return { challengeNonce: challenge.nonce, payTo, transfers, stuck }
  }

  return {
    async matter(payTo, transfers) {
      const [challenge] = await store.find([payTo])
      if (!challenge) return false
      const payment = await ledger.books.find(challenge.nonce)
      const { accepted, late, lateMinted, finalized } = payment ?? {}
      const isAwaitingMint = late !== undefined && !(accepted ? lateMinted : finalized)
      const isClaimed = payment?.claim !== undefined && !accepted
      if (isAwaitingMint || isClaimed || isUndecided(challenge, payment)) return true
      const stuck = stuckOf(transfers, payment)
      return stuck > 0n && stuck >= deps.dustBelow
    },

    async stuck(countMax) {
      const all: StuckAddress[] = []
      for await (const { payTo, transfers } of store.kept()) {
        const found = await stuckAt(payTo, transfers)
        if (found) all.push(found)
      }
      const newest = ({ transfers }: StuckAddress) => transfers.at(-1)?.leafIndex ?? 0n
      return all.toSorted((a, b) => Number(newest(b) - newest(a))).slice(0, countMax)
    },
  }
}

/** What neither the burn of the payment nor a batch has brought, or will bring. */
const stuckOf = (transfers: readonly FoundTransfer[], payment: RecordedPayment | undefined): bigint =>
  totalOf(transfers.filter(({ beside }) => beside !== 'minted')) - countedOf(payment)

export type StuckCount = {
  /** Counts again unless there is a recent count: counting reads every transfer that is kept. */
  refresh(): Promise<void>
  last(): number
}

export function createStuckCount(deps: {
  readonly stuck: Stuck['stuck']
  readonly clock: Pick<Clock, 'now'>
  readonly everyMs: number
}): StuckCount {
  const { clock } = deps
  let count = 0
  let countedAtMs = Number.NEGATIVE_INFINITY
  return {
    async refresh() {
      if (clock.now() - countedAtMs < deps.everyMs) return
      count = (await deps.stuck(Number.POSITIVE_INFINITY)).length
      countedAtMs = clock.now()
    },
    last: () => count,
  }
}
