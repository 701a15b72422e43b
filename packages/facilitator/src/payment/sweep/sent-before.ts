/**
 * Looks for money that the treasury sent to a recipient of fees without the ledger's knowledge: by a sweep that a restored
 * copy of the ledger does not know, or by hand. Such a transfer counts as a sweep, so that no fee is paid twice.
 */
import type { Address, BaseUnits } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import { coveredBy, type RecipientDue, type SweepTerms, sweepOf } from './plan.js'
import type { FeeLedger, SentTransfers, TreasuryTransfer } from './ports.js'

/** `changed`: other fees are due now. `shallow`: a transfer was found that a reorg could still undo. */
export type SentBefore = (fees: RecipientDue) => Promise<'nothing' | 'changed' | 'shallow'>

export function createSentBefore(deps: {
  readonly ledger: Pick<FeeLedger, 'feesDue' | 'swept' | 'recordSweepFound'>
  readonly sent: SentTransfers
  readonly terms: SweepTerms
  readonly report: Report
}): SentBefore {
  const { ledger, terms, report } = deps

  /** Takes the fees that a transfer pays, in as many records as sweeps of that size would have had. */
  async function take(recipient: Address, transfer: TreasuryTransfer): Promise<void> {
    let payments = 0
    for (let left: bigint = transfer.value; left > 0n; ) {
      const { due } = await ledger.feesDue(terms)
      const fees = due.find((each) => each.recipient === recipient)
      if (!fees) break
      const sweep = sweepOf({ recipient, oldest: coveredBy(left, fees.oldest) })
      const value = (sweep.amount < left ? sweep.amount : left) as BaseUnits
      await ledger.recordSweepFound(sweep, { ...transfer, value })
      payments += sweep.challengeNonces.length
      left -= value
    }
    report({ event: 'fees.transfer_found', txHash: transfer.txHash, payments, amount: transfer.value })
  }

  return async ({ recipient, fromBlock }) => {
    const { last } = await ledger.swept()
    // Blocks up to that of the last sweep are accounted for.
    const isAccounted = last !== undefined && last.blockNumber >= fromBlock
    const found = await deps.sent(recipient, isAccounted ? last.blockNumber + 1n : fromBlock)
    if (found.some(({ isDeep }) => !isDeep)) return 'shallow'
    for (const transfer of found) await take(recipient, transfer)
    return found.length > 0 ? 'changed' : 'nothing'
  }
}
