/** Fees as the administrative surface shows them. */
import { toChecksum } from '@svc-zerc20/protocol'
import type { DoneSweep, Sweep } from '../../payment/records.js'
import type { FeesView } from '../../payment/sweep/control.js'
import type { UnderWay } from '../../payment/sweep/one-sweep.js'
import type { FeeSum } from '../../payment/sweep/plan.js'
import type { SweepAnswer } from '../../payment/sweep/sweeper.js'

export function viewFees({ due, elsewhere, underWay, swept, lastFailure, ...view }: FeesView) {
  const { sweeps, payments, amount, last } = swept
  const earned = amount + due.amount + elsewhere.amount + (underWay?.sweep.amount ?? 0n)
  return {
    mode: view.mode,
    treasury: toChecksum(view.terms.treasury),
    ...(view.token && { token: view.token }),
    ...(view.treasuryWei !== undefined && { treasuryWei: `${view.treasuryWei}` }),
    earned: `${earned}`,
    sweepMin: `${view.terms.minAmount}`,
    sweepIntervalSeconds: view.terms.intervalMs / 1000,
    due: viewSum(due),
    ...(elsewhere.payments > 0 && { elsewhere: viewSum(elsewhere) }),
    ...(underWay && { underWay: viewUnderWay(underWay) }),
    swept: { sweeps, payments, amount: `${amount}`, ...(last && { last: viewDone(last) }) },
    ...(lastFailure && { lastError: viewFailure(lastFailure) }),
    ...(view.splitter && { splitter: viewSplitter(view.splitter) }),
  }
}

const viewFailure = ({ why, message, at }: NonNullable<FeesView['lastFailure']>) => ({
  reason: why,
  message,
  at,
})

const viewSum = ({ payments, amount, oldestAt }: FeeSum) => ({
  payments,
  amount: `${amount}`,
  ...(oldestAt !== undefined && { oldestAt }),
})

const viewSweep = ({ recipient, amount, challengeNonces }: Sweep) => ({
  recipient: toChecksum(recipient),
  amount: `${amount}`,
  payments: challengeNonces.length,
})

const viewUnderWay = ({ sweep, txHash }: UnderWay) => ({
  ...viewSweep(sweep),
  ...(txHash !== undefined && { transaction: txHash }),
})

const viewDone = ({ recipient, amount, payments, txHash, blockNumber, at }: DoneSweep) => ({
  recipient: toChecksum(recipient),
  amount: `${amount}`,
  payments,
  transaction: txHash,
  block: `${blockNumber}`,
  at,
})

function viewSplitter(splitter: NonNullable<FeesView['splitter']>) {
  const { address, undistributed, last, lastFailure } = splitter
  return {
    address: toChecksum(address),
    ...(undistributed !== undefined && { undistributed: `${undistributed}` }),
    ...(last && { last: { transaction: last.txHash, amount: `${last.amount}`, at: last.at } }),
    ...(lastFailure && { lastError: lastFailure }),
  }
}

export function viewSweepAnswer(answer: SweepAnswer) {
  if (answer.kind === 'none') return { sweep: answer.why }
  if (answer.kind === 'failed') return { sweep: 'failed', reason: answer.why, message: answer.message }
  return { sweep: answer.kind, ...viewUnderWay(answer) }
}
