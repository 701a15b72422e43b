/** A payment as the administrative surface shows it. */
import { toChecksum } from '@svc-zerc20/protocol'
import type { Cursor } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import { stateAt } from '../../payment/lifecycle.js'
import type { OwedBooks } from '../../payment/owed.js'
import type { Burn, Fee, Finalized, Mint, RecordedPayment } from '../../payment/records.js'
import { waitReasons } from '../../payment/waits.js'
import type { TimelineEntry } from '../../telemetry/recent.js'

export function viewPayment(payment: RecordedPayment, nowMs: number, waitOf: OwedBooks['waitOf']) {
  const { challenge, claim, accepted, demoted, finalized, late, granted } = payment
  const transaction = (accepted ?? demoted)?.burn.txHash ?? claim?.txHash
  const isLateOwed = late !== undefined && !(accepted ? payment.lateMinted : finalized)
  const isOwed = (accepted !== undefined && !finalized) || isLateOwed
  const surplus = accepted ? accepted.burn.value - challenge.amount : 0n
  return {
    challengeNonce: challenge.nonce,
    phase: stateAt(payment, nowMs),
    amount: `${challenge.amount}`,
    listPrice: `${challenge.listPrice}`,
    ...(challenge.fee && { fee: viewFee(challenge.fee, payment.swept) }),
    payTo: toChecksum(challenge.payTo),
    treasury: toChecksum(challenge.treasury),
    issuedAt: challenge.issuedAt,
    expiresAt: challenge.expiresAt,
    claimed: claim !== undefined,
    ...(transaction !== undefined && { transaction }),
    ...(accepted && { burn: viewBurn(accepted.burn), acceptedAt: accepted.at }),
    ...(surplus > 0n && { surplus: `${surplus}` }),
    ...(demoted && { demoted: true }),
    ...(finalized && { mint: viewMint(finalized.mint), finalizedAt: finalized.at }),
    granted,
    ...(late && {
      late: { ...viewBurn(late.burn), reason: late.reason, ...viewLateMint(payment) },
    }),
    ...(isOwed && { waiting: viewWait(waitOf(challenge.nonce)) }),
  }
}

const viewFee = ({ amount, bps, chargeTo, recipient }: Fee, isSwept = false) => ({
  amount: `${amount}`,
  bps,
  chargeTo,
  ...(recipient !== undefined && { recipient: toChecksum(recipient), swept: isSwept }),
})

const viewWait = ({ reason, sinceMs }: ReturnType<OwedBooks['waitOf']>) => ({
  reason,
  meaning: waitReasons[reason],
  ...(sinceMs !== undefined && { since: Math.floor(sinceMs / 1000) }),
})

function viewBurn({ txHash, blockNumber, leafIndex, from, value }: Burn) {
  return {
    transaction: txHash,
    block: `${blockNumber}`,
    leafIndex: `${leafIndex}`,
    from: toChecksum(from),
    value: `${value}`,
  }
}

/** Its own mint, where the payment itself has another. */
const viewLateMint = ({ lateMinted }: RecordedPayment) =>
  lateMinted && { mint: viewMint(lateMinted.mint), finalizedAt: lateMinted.at }

export const viewStuck = ({ challengeNonce, payTo, transfers, stuck }: StuckAddress) => ({
  challengeNonce,
  payTo: toChecksum(payTo),
  stuck: `${stuck}`,
  transfers: transfers.map(({ minedAt, ...burn }) => ({ ...viewBurn(burn), at: minedAt })),
})

const viewMint = ({ txHash, blockNumber, value }: Mint) => ({
  ...(txHash !== undefined && { transaction: txHash }),
  ...(blockNumber !== undefined && { block: `${blockNumber}` }),
  value: `${value}`,
})

const finalizedEntry = ({ mint: { txHash }, at }: Finalized): TimelineEntry => ({
  at,
  event: 'payment.finalized',
  ...(txHash !== undefined && { txHash }),
})

/** The turns of the payment that this run saw, and those of earlier runs that the ledger knows, in order. */
export function viewTimeline(
  { challenge, accepted, claim, finalized }: RecordedPayment,
  recent: readonly TimelineEntry[],
  nowMs: number,
): TimelineEntry[] {
  const hasExpired = !claim && nowMs >= challenge.expiresAt * 1000
  const known: TimelineEntry[] = [
    { at: challenge.issuedAt, event: 'challenge.issued' },
    ...(accepted ? [{ at: accepted.at, event: 'payment.accepted', txHash: accepted.burn.txHash }] : []),
    ...(finalized ? [finalizedEntry(finalized)] : []),
    ...(hasExpired ? [{ at: challenge.expiresAt, event: 'challenge.expired' }] : []),
  ]
  const missing = known.filter(({ event }) => !recent.some((entry) => entry.event === event))
  return [...missing, ...recent].sort((a, b) => a.at - b.at)
}

export const viewCursor = ({ issuedAt, nonce }: Cursor): string => `${issuedAt}.${nonce}`
