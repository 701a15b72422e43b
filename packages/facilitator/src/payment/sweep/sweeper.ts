/** Sweeps the facilitator's fees from the treasury to their recipients, one sweep after the other. */
import type { TxHash } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { Sweep } from '../records.js'
import { createOneSweep, type LastFailure, type UnderWay } from './one-sweep.js'
import {
  type FeeSum,
  gatherDue,
  type NoSweep,
  planSweep,
  type RecipientDue,
  type SweepTerms,
} from './plan.js'
import type { FeeLedger, SweepEvent, SweepFailure, SweepSender } from './ports.js'
import type { SentBefore } from './sent-before.js'

/** The answer to somebody who wants a sweep now. */
export type SweepAnswer =
  | ({ readonly kind: 'under_way' } & UnderWay)
  | { readonly kind: 'planned'; readonly sweep: Sweep }
  | { readonly kind: 'sent'; readonly sweep: Sweep; readonly txHash: TxHash }
  | { readonly kind: 'none'; readonly why: NoSweep }
  | { readonly kind: 'failed'; readonly why: SweepFailure; readonly message: string }

export type SweepView = {
  readonly due: FeeSum
  /** Fees that were minted to another account than today's treasury. Their owner has to send them. */
  readonly elsewhere: FeeSum
  readonly underWay?: UnderWay
  readonly lastFailure?: LastFailure
}

export type Sweeper = {
  /** Takes up what is under way, or starts a sweep that is due. Does not wait for its end. */
  round(): Promise<void>
  /** Starts a sweep now, however young its fees are. With `isDryRun` nothing is signed. */
  now(options: { readonly isDryRun: boolean }): Promise<SweepAnswer>
  view(): Promise<SweepView>
}

/** Looks for money that was sent before, in one round: each look may change what is due. */
const looksMax = 5

export function createSweeper(deps: {
  readonly ledger: Pick<FeeLedger, 'feesDue' | 'openSweeps' | 'endSweep'>
  readonly sender: SweepSender
  readonly sentBefore: SentBefore
  readonly clock: Pick<Clock, 'now'>
  readonly terms: SweepTerms
  /** First and longest pause after a failure. */
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly report: (event: SweepEvent) => void
}): Sweeper {
  const { ledger, clock, terms } = deps
  const one = createOneSweep(deps)

  async function planned(isHurried: boolean): Promise<RecipientDue | NoSweep> {
    const { due } = await gatherDue(ledger.feesDue(), terms)
    return planSweep(due, terms, { nowMs: clock.now(), isHurried })
  }

  /** The fees to sweep, after the chain was asked whether they were sent before. */
  async function surelyDue(isHurried: boolean): Promise<RecipientDue | NoSweep> {
    for (let looks = 0; looks < looksMax; looks++) {
      const fees = await planned(isHurried)
      if (typeof fees === 'string') return fees
      const before = await deps.sentBefore(fees)
      if (before === 'nothing') return fees
      if (before === 'shallow') break
    }
    return 'too_young'
  }

  /** Whatever an earlier run, or a refused record, left open comes before anything new. */
  async function takeUpOpen(): Promise<void> {
    if (one.underWay()) return
    const [open] = await ledger.openSweeps()
    if (open && !one.underWay()) one.takeUp(open)
  }

  async function answerNow(isDryRun: boolean): Promise<SweepAnswer> {
    if (!isDryRun) await takeUpOpen()
    const fees = one.underWay() ? 'nothing_due' : await (isDryRun ? planned(true) : surelyDue(true))
    const underWay = one.underWay()
    if (underWay) return { kind: 'under_way', ...underWay }
    if (typeof fees === 'string') return { kind: 'none', why: fees }
    const { sweep } = fees
    if (isDryRun) return { kind: 'planned', sweep }
    const started = await one.start(sweep)
    return typeof started === 'string'
      ? { kind: 'sent', sweep, txHash: started }
      : { kind: 'failed', ...started }
  }

  return {
    async round() {
      await takeUpOpen()
      if (one.underWay() || one.isResting()) return
      try {
        const fees = await surelyDue(false)
        if (!one.underWay() && typeof fees !== 'string') void one.start(fees.sweep)
      } catch (err) {
        one.fail(err)
      }
    },

    now: ({ isDryRun }) => answerNow(isDryRun),

    async view() {
      const { due, elsewhere } = await gatherDue(ledger.feesDue(), terms)
      const [underWay, lastFailure] = [one.underWay(), one.lastFailure()]
      return {
        due: sumOf(due),
        elsewhere,
        ...(underWay && { underWay }),
        ...(lastFailure && { lastFailure }),
      }
    },
  }
}

function sumOf(due: readonly FeeSum[]): FeeSum {
  const payments = due.reduce((sum, fees) => sum + fees.payments, 0)
  const amount = due.reduce((sum, fees) => sum + fees.amount, 0n) as FeeSum['amount']
  if (due.length === 0) return { payments, amount }
  return { payments, amount, oldestAt: Math.min(...due.map(({ oldestAt = 0 }) => oldestAt)) }
}
