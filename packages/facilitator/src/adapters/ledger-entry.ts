/** What the ledger knows of one payment that can still change, and the events that say the same. */
import type { TxHash } from '@svc-zerc20/protocol'
import type {
  Accepted,
  AwaitingMint,
  Burn,
  Challenge,
  Finalized,
  LateReason,
  UnmatchedBurn,
} from '../payment/ports.js'
import type { ClaimedPayload, LedgerEvent } from './ledger-event.js'
import type { EndedPayment } from './ledger-packing.js'

export type Entry = {
  readonly challenge: Challenge
  /** The payload itself is dropped once its burn is accepted; its identity stays. */
  claim?: {
    readonly identity: string
    readonly ticketed: boolean
    payload?: ClaimedPayload
    txHash?: TxHash
  }
  accepted?: Accepted
  demoted?: Accepted
  late?: Burn
  /** Absent for one that came late. */
  lateReason?: Exclude<LateReason, 'late'>
  /** The mint of `late`, when the payment was accepted by another burn. */
  lateMinted?: Finalized
  /** Transfers to its address that cover nothing. */
  unmatched?: UnmatchedBurn[]
  finalized?: Finalized
  granted: boolean
}

export function* listed(
  bound: readonly LedgerEvent[],
  ended: Iterable<EndedPayment>,
  live: readonly LedgerEvent[],
): Iterable<LedgerEvent> {
  yield* bound
  for (const payment of ended) yield { event: 'payment_recorded', ...payment, ticketed: false, granted: true }
  yield* live
}

export const toEntry = ({ challenge, identity, burn, at, finalized }: EndedPayment): Entry => ({
  challenge,
  // Its one answer is given: a ticket would tell nobody anything more.
  claim: { identity, ticketed: false },
  accepted: { burn, at },
  ...(finalized && { finalized }),
  granted: true,
})

/** Something happened to it that must not be forgotten, however long ago it expired. */
export const isKept = ({
  claim,
  late,
  unmatched,
}: Pick<Readonly<Entry>, 'claim' | 'late' | 'unmatched'>): boolean =>
  claim !== undefined || late !== undefined || unmatched !== undefined

export function* eventsOf(entry: Entry): Iterable<LedgerEvent> {
  const { challenge, claim, accepted, demoted, late, unmatched, finalized, granted } = entry
  const { nonce } = challenge
  const burned = accepted ?? demoted
  if (burned && claim) {
    const { identity, ticketed } = claim
    const mint = accepted && finalized && { finalized }
    yield { event: 'payment_recorded', challenge, identity, ticketed, ...burned, granted, ...mint }
    if (demoted) yield { event: 'payment_demoted', nonce }
  } else {
    yield { event: 'challenge_issued', challenge }
    if (claim?.payload) {
      const { identity, ticketed, payload } = claim
      yield { event: 'payment_claimed', nonce, identity, ticketed, payload }
    }
    if (granted) yield { event: 'grant_used', nonce }
  }
  for (const transfer of unmatched ?? []) yield { event: 'burn_unmatched', nonce, ...transfer }
  if (late) {
    const { lateReason: reason } = entry
    yield { event: 'burn_late', challenge, burn: late, ...(reason && { reason }) }
  }
  const lateMint = burned ? entry.lateMinted : finalized
  if (late && lateMint) yield { event: 'payment_finalized', nonce, ...lateMint }
}

/**
 * The burn that is minted next. A proof mints one leaf, and the verifier counts what it minted for an address: beside an
 * accepted burn only a larger one is worth anything, for the difference.
 */
export function awaitedBurnOf(entry: Readonly<Entry>): AwaitingMint | undefined {
  const { challenge, accepted, late, finalized } = entry
  if (accepted && !finalized) return { challenge, burn: accepted.burn, acceptedAt: accepted.at }
  const isWorthIt = late && late.value > (accepted?.burn.value ?? 0n)
  const isMinted = accepted ? entry.lateMinted : finalized
  return isWorthIt && !isMinted ? { challenge, burn: late } : undefined
}
