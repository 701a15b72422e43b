/** Steps of sweeps: signed before they are sent, ended once they are deep or cannot happen. */
import { type Address, type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { SignedBy, SignedTransaction, Sweep } from '../../payment/records.js'
import type { SweepEnd, TreasuryTransfer } from '../../payment/sweep/ports.js'
import { dueFeeIn } from '../leaves.js'
import { first, type Step, sql } from '../sql.js'
import { decode } from '../stored.js'
import type { StepContext } from './step-context.js'

function* openSweep(txNonce: number): Step<Sweep | undefined> {
  const row = yield* first(sql`SELECT record FROM sweep WHERE open_tx_nonce = ${txNonce}`)
  return row && decode<Sweep>(row.record)
}

function* recordSweepSigned(context: StepContext, sweep: Sweep, transaction: SignedTransaction): Step<void> {
  const open = yield* openSweep(transaction.txNonce)
  if (open) assertSame(open, sweep)
  else yield* assertDue(context, sweep)
  const { recipient, amount, challengeNonces } = sweep
  yield* context.record({ event: 'sweep_signed', recipient, amount, challengeNonces, transaction })
}

function* endSweep(context: StepContext, { txNonce, from }: SignedBy, end: SweepEnd): Step<void> {
  if (!(yield* openSweep(txNonce))) return
  const done = end.kind === 'done' && { txHash: end.txHash, blockNumber: end.blockNumber }
  yield* context.record({ event: 'sweep_ended', txNonce, from, ...done })
}

function* recordSweepFound(
  context: StepContext,
  { recipient, challengeNonces }: Sweep,
  { value: amount, txHash, blockNumber }: TreasuryTransfer,
): Step<void> {
  yield* context.record({ event: 'sweep_found', recipient, amount, challengeNonces, txHash, blockNumber })
}

/** A replacement at a higher price sends the same money to the same recipient. */
function assertSame(open: Sweep, { recipient, amount, challengeNonces }: Sweep): void {
  const isSame =
    open.recipient === recipient &&
    open.amount === amount &&
    open.challengeNonces.join() === challengeNonces.join()
  if (!isSame) throw new SvcError('invariant', 'a sweep was signed again with other fees')
}

/** Checked once more before anything can be sent: a mistake here would send the provider's money. */
function* assertDue(context: StepContext, { recipient, amount, challengeNonces }: Sweep): Step<void> {
  let sum = 0n
  for (const nonce of new Set(challengeNonces)) sum += yield* dueTo(context, recipient, nonce)
  if (sum !== amount || sum === 0n) {
    throw new SvcError('invariant', `a sweep of ${amount} for fees of ${sum}`)
  }
}

function* dueTo(context: StepContext, recipient: Address, nonce: ChallengeNonce): Step<bigint> {
  const due = dueFeeIn((yield* context.rows.leaves(nonce)).leaves)
  if (due?.recipient === recipient) return due.amount
  throw new SvcError('invariant', `the fee of ${nonce} is not due to ${recipient}`)
}

export const sweepSteps = { recordSweepSigned, endSweep, recordSweepFound }
