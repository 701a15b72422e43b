/**
 * Judges transfers to an issued address that nobody presented, or that came beside the presented one. A proof
 * mints one leaf, and the verifier counts the minted amount of an address. Single proofs therefore bring the
 * largest leaf only. Any money beyond it waits for a proof over many leaves.
 */
import type { Address, ChallengeNonce, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, LateReason, RecordedPayment } from '../records.js'

/** A transfer to an issued address, and when its block says it happened. */
export type FoundTransfer = Burn & {
  readonly minedAt: UnixSeconds
  /** A batch has counted it before anybody knew which burn it is. */
  readonly isCounted?: boolean
}

export const burnIn = ({ minedAt: _, isCounted: __, ...burn }: FoundTransfer): Burn => burn

export type TransfersVerdict =
  /**
   * The payer may still present the transfer, or has presented it and it is under way. It is judged again at
   * `until`.
   */
  | { readonly kind: 'wait'; readonly until: number }
  /** The very transfer that was presented in time: it pays. */
  | { readonly kind: 'accept'; readonly burn: Burn }
  | { readonly kind: 'mint'; readonly burn: Burn; readonly reason: LateReason }
  /** A mint would bring nothing. */
  | { readonly kind: 'nothing' }

/** Seconds until a claim is looked at again. */
const claimedAgainSeconds = 60

export function judgeTransfers(given: {
  readonly challenge: Challenge
  /** Undefined once the ledger has forgotten the challenge. */
  readonly payment: RecordedPayment | undefined
  readonly transfers: readonly FoundTransfer[]
  readonly now: number
  /** Less than this is not worth a mint, unless it pays the challenge in full. */
  readonly dustBelow: bigint
}): TransfersVerdict {
  const { challenge, payment, transfers, now, dustBelow } = given
  const largest = largestOf(transfers)
  if (!largest) return { kind: 'nothing' }
  if (payment && !payment.accepted) {
    if (payment.claim) return judgeClaimed(given, payment)
    const until = challenge.expiresAt
    if (!payment.late && now < until) return { kind: 'wait', until }
  }
  // Anybody can send more, and a second mint carries the tweak of the first: a stranger would learn which was the payment's.
  if (payment?.accepted ?? payment?.late) return { kind: 'nothing' }
  if (largest.value < challenge.amount && largest.value < dustBelow) return { kind: 'nothing' }
  return { kind: 'mint', burn: burnIn(largest), reason: reasonOf(challenge, transfers, largest) }
}

/** Accepts the claimed transfer once the chain holds it, even if its payer is gone. Its answer waits. */
function judgeClaimed(
  { challenge, transfers, now }: Parameters<typeof judgeTransfers>[0],
  { claim }: RecordedPayment,
): TransfersVerdict {
  const claimed = largestOf(transfers.filter(({ txHash }) => txHash === claim?.txHash))
  if (!claimed || claimed.value < challenge.amount) return { kind: 'wait', until: now + claimedAgainSeconds }
  return { kind: 'accept', burn: burnIn(claimed) }
}

function reasonOf(
  { amount, expiresAt }: Challenge,
  transfers: readonly FoundTransfer[],
  largest: FoundTransfer,
): LateReason {
  if (largest.value < amount) return totalOf(transfers) >= amount ? 'split' : 'underpaid'
  return largest.minedAt < expiresAt ? 'unpresented' : 'late'
}

/** The transfers beside the one burn that the ledger knows of. If the ledger knows none: all transfers. */
export function besideBurnOf(
  payment: RecordedPayment | undefined,
  transfers: readonly FoundTransfer[],
): readonly FoundTransfer[] {
  const burn = payment?.accepted?.burn ?? payment?.late?.burn
  if (!burn) return transfers
  const isSameLeaf = (transfer: FoundTransfer) =>
    transfer.txHash === burn.txHash && transfer.leafIndex === burn.leafIndex
  // A reorg may have moved the burn to another leaf.
  const known =
    transfers.find(isSameLeaf) ??
    transfers.find(({ txHash, value }) => txHash === burn.txHash && value === burn.value)
  return transfers.filter((transfer) => transfer !== known)
}

export const totalOf = (transfers: readonly FoundTransfer[]): bigint =>
  transfers.reduce((sum, { value }) => sum + value, 0n)

/** Base units that lie at an address beyond what its payment, or a batch, brings. */
export function stuckAt(
  { accepted, late }: Pick<RecordedPayment, 'accepted' | 'late'>,
  transfers: readonly FoundTransfer[],
): bigint {
  const isOwn = ({ leafIndex }: Burn) => [accepted, late].some((own) => own?.burn.leafIndex === leafIndex)
  const left = totalOf(transfers.filter((transfer) => !transfer.isCounted || isOwn(transfer)))
  // Of two burns a single proof brings the larger one.
  const larger = late && late.burn.value > (accepted?.burn.value ?? 0n) ? late : accepted
  return left - (larger?.burn.value ?? 0n)
}

/** The largest transfer; the earliest of equal ones. */
export const largestOf = (transfers: readonly FoundTransfer[]): FoundTransfer | undefined =>
  transfers.reduce<FoundTransfer | undefined>(
    (largest, transfer) => (largest && largest.value >= transfer.value ? largest : transfer),
    undefined,
  )

/** One address with money that a single proof does not mint, for the operator. */
export type StuckAddress = {
  readonly challengeNonce: ChallengeNonce
  readonly payTo: Address
  readonly transfers: readonly FoundTransfer[]
  /** Base units that lie there beyond the one leaf that is, or will be, minted. */
  readonly stuck: bigint
}
