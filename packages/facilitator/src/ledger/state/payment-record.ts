/** The record of one payment, and the shortest events that make this record again. */
import type { TxHash } from '@svc-zerc20/protocol'
import type {
  Accepted,
  AwaitingMint,
  Burn,
  Challenge,
  Finalized,
  LateReason,
  UnmatchedBurn,
} from '../../payment/records.js'
import type { EndedPayment } from '../archive/packing.js'
import type { ClaimedPayload, LedgerEvent } from '../events/events.js'

export type PaymentRecord = {
  readonly challenge: Challenge
  /** The payload is dropped once its burn is accepted and deep. Its identity stays. */
  claim?: {
    readonly identity: string
    readonly ticketed: boolean
    payload?: ClaimedPayload
    txHash?: TxHash
  }
  accepted?: Accepted
  demoted?: Accepted
  late?: Burn
  /** Absent for a burn that came late. */
  lateReason?: Exclude<LateReason, 'late'>
  /** The mint of `late`, when the payment was accepted by another burn. */
  lateMinted?: Finalized
  /** Transfers to the payment's address that cover nothing. */
  unmatched?: UnmatchedBurn[]
  finalized?: Finalized
  /** A sweep took the fee. */
  swept?: true
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

export const toRecord = ({
  challenge,
  identity,
  burn,
  at,
  finalized,
  swept,
}: EndedPayment): PaymentRecord => ({
  challenge,
  // The one answer of an ended payment is given, so that a ticket has no use any more.
  claim: { identity, ticketed: false },
  accepted: { burn, at },
  ...(finalized && { finalized }),
  ...(swept && { swept }),
  granted: true,
})

/** Whether a payment must not be forgotten, however long ago it expired. */
export const isKept = ({
  claim,
  late,
  unmatched,
}: Pick<Readonly<PaymentRecord>, 'claim' | 'late' | 'unmatched'>): boolean =>
  claim !== undefined || late !== undefined || unmatched !== undefined

/** Whether the burn is accepted, or was, and its signed bytes are still kept. */
const hasSignedBurn = ({ claim, accepted, demoted }: PaymentRecord) =>
  claim?.payload !== undefined && (accepted ?? demoted) !== undefined

export function* eventsOf(entry: PaymentRecord): Iterable<LedgerEvent> {
  const { challenge, claim, accepted, demoted, finalized, granted } = entry
  const { nonce } = challenge
  const burned = accepted ?? demoted
  if (burned && claim && !claim.payload) {
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
    if (granted && !burned) yield { event: 'grant_used', nonce }
  }
  if (!hasSignedBurn(entry)) yield* otherTransfersOf(entry)
}

/** The later events of a payment whose signed bytes are still kept. They come behind those bytes. */
export function* endingsOf(entry: PaymentRecord): Iterable<LedgerEvent> {
  const { challenge, accepted, demoted, finalized, granted } = entry
  const { nonce } = challenge
  const burned = accepted ?? demoted
  if (!burned || !hasSignedBurn(entry)) return
  yield { event: 'payment_accepted', nonce, ...burned }
  if (granted) yield { event: 'grant_used', nonce }
  if (demoted) yield { event: 'payment_demoted', nonce }
  if (accepted && finalized) yield { event: 'payment_finalized', nonce, ...finalized }
  yield* otherTransfersOf(entry)
}

/** Other transfers to the payment's address: those that cover nothing, and a burn beside or instead of the accepted one. */
function* otherTransfersOf(entry: PaymentRecord): Iterable<LedgerEvent> {
  const { challenge, accepted, demoted, late, lateReason: reason, unmatched, finalized } = entry
  const { nonce } = challenge
  for (const transfer of unmatched ?? []) yield { event: 'burn_unmatched', nonce, ...transfer }
  if (late) yield { event: 'burn_late', challenge, burn: late, ...(reason && { reason }) }
  const lateMint = (accepted ?? demoted) ? entry.lateMinted : finalized
  if (late && lateMint) yield { event: 'payment_finalized', nonce, ...lateMint }
}

/**
 * The burn that is minted next. A proof mints one leaf, and the verifier counts the minted amount of an address. Beside an
 * accepted burn only a larger one is worth a mint, for the difference.
 */
export function awaitedBurnOf(entry: Readonly<PaymentRecord>): AwaitingMint | undefined {
  const { challenge, accepted, late, finalized } = entry
  if (accepted && !finalized) return { challenge, burn: accepted.burn, acceptedAt: accepted.at }
  const isWorthIt = late && late.value > (accepted?.burn.value ?? 0n)
  const isMinted = accepted ? entry.lateMinted : finalized
  return isWorthIt && !isMinted ? { challenge, burn: late } : undefined
}
