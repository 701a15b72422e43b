/**
 * Payments and fees as the administrative surface shows them. The server writes amounts as decimal strings, and leaves out
 * what is undefined.
 */
import { toChecksum } from '@svc-zerc20/protocol'
import type { Cursor } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import { stateAt } from '../../payment/lifecycle.js'
import type { OwedBooks } from '../../payment/owed.js'
import type { Burn, DoneSweep, Fee, Mint, RecordedPayment } from '../../payment/records.js'
import type { FeesView } from '../../payment/sweep/control.js'
import type { UnderWay } from '../../payment/sweep/one-sweep.js'
import type { SweepAnswer } from '../../payment/sweep/sweeper.js'
import { waitReasons } from '../../payment/waits.js'
import type { TimelineEntry } from '../../telemetry/recent.js'

export function viewPayment(payment: RecordedPayment, nowMs: number, waitOf: OwedBooks['waitOf']) {
  const { challenge, claim, accepted, demoted, finalized, late, lateMinted, granted } = payment
  const isLateOwed = late !== undefined && !(accepted ? lateMinted : finalized)
  const isOwed = (accepted !== undefined && !finalized) || isLateOwed
  const surplus = accepted ? accepted.burn.value - challenge.amount : 0n
  return {
    challengeNonce: challenge.nonce,
    phase: stateAt(payment, nowMs),
    amount: challenge.amount,
    listPrice: challenge.listPrice,
    fee: challenge.fee && viewFee(challenge.fee, payment.swept),
    payTo: toChecksum(challenge.payTo),
    treasury: toChecksum(challenge.treasury),
    issuedAt: challenge.issuedAt,
    expiresAt: challenge.expiresAt,
    claimed: claim !== undefined,
    transaction: (accepted ?? demoted)?.burn.txHash ?? claim?.txHash,
    burn: accepted && viewBurn(accepted.burn),
    acceptedAt: accepted?.at,
    surplus: surplus > 0n ? surplus : undefined,
    demoted: demoted && true,
    mint: finalized && viewMint(finalized.mint),
    finalizedAt: finalized?.at,
    granted,
    late: late && {
      ...viewBurn(late.burn),
      reason: late.reason,
      // Its own mint, where the payment itself has another.
      mint: lateMinted && viewMint(lateMinted.mint),
      finalizedAt: lateMinted?.at,
    },
    waiting: isOwed ? viewWait(waitOf(challenge.nonce)) : undefined,
  }
}

const viewFee = ({ amount, bps, chargeTo, recipient }: Fee, isSwept = false) => ({
  amount,
  bps,
  chargeTo,
  ...(recipient !== undefined && { recipient: toChecksum(recipient), swept: isSwept }),
})

const viewWait = ({ reason, sinceMs }: ReturnType<OwedBooks['waitOf']>) => ({
  reason,
  meaning: waitReasons[reason],
  since: sinceMs === undefined ? undefined : Math.floor(sinceMs / 1000),
})

const viewBurn = ({ txHash, blockNumber, leafIndex, from, value }: Burn) => ({
  transaction: txHash,
  block: blockNumber,
  leafIndex,
  from: toChecksum(from),
  value,
})

const viewMint = ({ txHash, blockNumber, value }: Mint) => ({
  transaction: txHash,
  block: blockNumber,
  value,
})

export const viewStuck = ({ challengeNonce, payTo, transfers, stuck }: StuckAddress) => ({
  challengeNonce,
  payTo: toChecksum(payTo),
  stuck,
  transfers: transfers.map(({ minedAt, ...burn }) => ({ ...viewBurn(burn), at: minedAt })),
})

export function viewFees(view: FeesView) {
  const { mode, terms, token, treasuryWei, due, elsewhere, underWay, swept, lastFailure, splitter } = view
  return {
    mode,
    treasury: toChecksum(terms.treasury),
    token,
    treasuryWei,
    earned: swept.amount + due.amount + elsewhere.amount + (underWay?.sweep.amount ?? 0n),
    sweepMin: terms.minAmount,
    sweepIntervalSeconds: terms.intervalMs / 1000,
    due,
    elsewhere: elsewhere.payments > 0 ? elsewhere : undefined,
    underWay: underWay && viewUnderWay(underWay),
    swept: { ...swept, last: swept.last && viewDone(swept.last) },
    lastError: lastFailure && {
      reason: lastFailure.why,
      message: lastFailure.message,
      at: lastFailure.at,
    },
    splitter: splitter && {
      address: toChecksum(splitter.address),
      undistributed: splitter.undistributed,
      last: splitter.last && {
        transaction: splitter.last.txHash,
        amount: splitter.last.amount,
        at: splitter.last.at,
      },
      lastError: splitter.lastFailure,
    },
  }
}

const viewUnderWay = ({ sweep, txHash }: UnderWay) => ({
  recipient: toChecksum(sweep.recipient),
  amount: sweep.amount,
  payments: sweep.challengeNonces.length,
  transaction: txHash,
})

const viewDone = ({ recipient, amount, payments, txHash, blockNumber, at }: DoneSweep) => ({
  recipient: toChecksum(recipient),
  amount,
  payments,
  transaction: txHash,
  block: blockNumber,
  at,
})

export function viewSweepAnswer(answer: SweepAnswer) {
  if (answer.kind === 'none') return { sweep: answer.why }
  if (answer.kind === 'failed') return { sweep: 'failed', reason: answer.why, message: answer.message }
  return { sweep: answer.kind, ...viewUnderWay(answer) }
}

/** The turns of the payment that this run saw, and those of earlier runs that the ledger knows, in order. */
export function viewTimeline(
  { challenge, accepted, claim, finalized }: RecordedPayment,
  recent: readonly TimelineEntry[],
  nowMs: number,
) {
  const hasExpired = !claim && nowMs >= challenge.expiresAt * 1000
  const known = [
    { at: challenge.issuedAt, event: 'challenge.issued' },
    ...(accepted ? [{ at: accepted.at, event: 'payment.accepted', txHash: accepted.burn.txHash }] : []),
    ...(finalized ? [{ at: finalized.at, event: 'payment.finalized', txHash: finalized.mint.txHash }] : []),
    ...(hasExpired ? [{ at: challenge.expiresAt, event: 'challenge.expired' }] : []),
  ]
  const missing = known.filter(({ event }) => !recent.some((entry) => entry.event === event))
  return [...missing, ...recent].sort((a, b) => a.at - b.at)
}

export const viewCursor = ({ issuedAt, nonce }: Cursor): string => `${issuedAt}.${nonce}`
