/**
 * Sweeps the facilitator's fees from the treasury to their recipients, one sweep after the other. A transfer of tokens has no
 * replay protection but its txNonce, so that the next sweep must know how the last one ended.
 */
import { backOffMs, type Clock, type TxHash } from '@svc-zerc20/protocol'
import type { OpenSweep, Sweep } from '../records.js'
import type { Report } from '../report.js'
import {
  type FeeSum,
  type FeesDue,
  type NoSweep,
  planSweep,
  type RecipientDue,
  type SweepTerms,
  sweepOf,
} from './plan.js'
import type { FeeLedger, SweepFailure, SweepOutcome, SweepSender } from './ports.js'
import type { SentBefore } from './sent-before.js'

export type UnderWay = { readonly sweep: Sweep; readonly txHash?: TxHash }
type LastFailure = { readonly why: SweepFailure; readonly message: string; readonly at: number }

/** The answer to somebody who wants a sweep now. */
export type SweepAnswer =
  | ({ readonly kind: 'under_way' } & UnderWay)
  | { readonly kind: 'planned'; readonly sweep: Sweep }
  | { readonly kind: 'sent'; readonly sweep: Sweep; readonly txHash: TxHash }
  | { readonly kind: 'none'; readonly why: NoSweep }
  | { readonly kind: 'failed'; readonly why: SweepFailure; readonly message: string }

export type SweepView = {
  readonly due: FeeSum & { readonly oldestAt?: number }
  /** The owner of the other account has to send them. */
  readonly elsewhere: FeesDue['elsewhere']
  readonly underWay?: UnderWay
  /** The last failure, until a sweep goes well. */
  readonly lastFailure?: LastFailure
}

export type Sweeper = ReturnType<typeof createSweeper>

export type SweeperDeps = {
  readonly ledger: Pick<FeeLedger, 'feesDue' | 'openSweeps' | 'endSweep'>
  readonly sender: SweepSender
  readonly sentBefore: SentBefore
  readonly clock: Pick<Clock, 'now'>
  readonly terms: SweepTerms
  /** First and longest pause after a failure. */
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly report: Report
}

/** Looks for money that was sent before, in one round: each look may change what is due. */
const pollsMax = 5

export function createSweeper(deps: SweeperDeps) {
  const { ledger, clock, terms } = deps
  const one = createOneSweep(deps)

  async function planned(isHurried: boolean): Promise<RecipientDue | NoSweep> {
    const { due } = await ledger.feesDue(terms)
    return planSweep(due, terms, { nowMs: clock.now(), isHurried })
  }

  /** The fees to sweep, after the chain was asked whether they were sent before. */
  async function surelyDue(isHurried: boolean): Promise<RecipientDue | NoSweep> {
    for (let polls = 0; polls < pollsMax; polls++) {
      const fees = await planned(isHurried)
      if (typeof fees === 'string') return fees
      const before = await deps.sentBefore(fees)
      if (before === 'nothing') return fees
      if (before === 'shallow') break
    }
    return 'too_young'
  }

  /** A sweep that an earlier run, or a refused record, left open comes before anything new. */
  async function takeUpOpen(): Promise<void> {
    if (one.underWay()) return
    const [open] = await ledger.openSweeps()
    if (open && !one.underWay()) one.takeUp(open)
  }

  return {
    /** Takes up what is under way, or starts a sweep that is due. Does not wait for its end. */
    async round(): Promise<void> {
      await takeUpOpen()
      if (one.underWay() || one.isResting()) return
      try {
        const fees = await surelyDue(false)
        if (!one.underWay() && typeof fees !== 'string') void one.start(sweepOf(fees))
      } catch (err) {
        one.fail('unavailable', err)
      }
    },

    /** Starts a sweep now, however young its fees are. With `isDryRun` nothing is signed. */
    async now({ isDryRun }: { readonly isDryRun: boolean }): Promise<SweepAnswer> {
      if (!isDryRun) await takeUpOpen()
      const due = () =>
        isDryRun ? planned(true) : surelyDue(true).catch((err) => one.fail('unavailable', err))
      const fees = one.underWay() ? 'nothing_due' : await due()
      const underWay = one.underWay()
      if (underWay) return { kind: 'under_way', ...underWay }
      if (typeof fees === 'string') return { kind: 'none', why: fees }
      if ('why' in fees) return { kind: 'failed', ...fees }
      const sweep = sweepOf(fees)
      if (isDryRun) return { kind: 'planned', sweep }
      const started = await one.start(sweep)
      return typeof started === 'string'
        ? { kind: 'sent', sweep, txHash: started }
        : { kind: 'failed', ...started }
    },

    async view(): Promise<SweepView> {
      const { due, elsewhere } = await ledger.feesDue(terms)
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

/** The one sweep that may be under way, from its signature to its end, and the pause after a failure. */
function createOneSweep({ ledger, sender, clock, retryMs, report }: SweeperDeps) {
  let underWay: UnderWay | undefined
  let failures = 0
  let restUntilMs = 0
  let lastFailure: LastFailure | undefined

  function fail(why: SweepFailure, err: unknown): LastFailure {
    const message = `${messages[why]}${err instanceof Error ? ` (${err.message})` : ''}`
    failures += 1
    restUntilMs = clock.now() + backOffMs(failures, retryMs.first, retryMs.max)
    lastFailure = { why, message, at: Math.floor(clock.now() / 1000) }
    report({ event: 'fees.sweep_failed', reason: why, message, err })
    return lastFailure
  }

  /** Records the end. A ledger that refuses keeps the sweep open, and a later round takes it up again. */
  async function conclude(
    { challengeNonces, amount }: Sweep,
    outcome: SweepOutcome,
  ): Promise<LastFailure | undefined> {
    const open = (await ledger.openSweeps()).find((other) => other.challengeNonces[0] === challengeNonces[0])
    if (outcome.kind === 'failed') {
      // After any other failure nothing was signed, or its end is not known yet.
      if (open && isFinal(outcome.why)) await ledger.endSweep(open, { kind: 'failed' })
      return fail(outcome.why, outcome.err)
    }
    if (open) await ledger.endSweep(open, outcome)
    failures = 0
    restUntilMs = 0
    lastFailure = undefined
    report({ event: 'fees.swept', txHash: outcome.txHash, payments: challengeNonces.length, amount })
    return undefined
  }

  const run = (sweep: Sweep, outcome: Promise<SweepOutcome>): Promise<LastFailure | undefined> =>
    outcome
      .then((ended) => conclude(sweep, ended))
      .catch((err) => fail('unavailable', err))
      .finally(() => {
        underWay = undefined
      })

  return {
    underWay: () => underWay,
    lastFailure: () => lastFailure,
    isResting: () => clock.now() < restUntilMs,
    fail,

    /** Goes on with a sweep that an earlier run, or a refused record, left open. */
    takeUp(sweep: OpenSweep): void {
      const newest = sweep.transactions.at(-1)
      underWay = { sweep, ...(newest && { txHash: newest.hash }) }
      report({ event: 'fees.sweep_resumed', payments: sweep.challengeNonces.length, amount: sweep.amount })
      void run(sweep, sender.resume(sweep))
    },

    /** Resolves when the sweep is signed and recorded, or has failed before. */
    start(sweep: Sweep): Promise<TxHash | LastFailure> {
      const { challengeNonces, amount } = sweep
      underWay = { sweep }
      return new Promise((resolve) => {
        const sending = sender.send(sweep, (txHash) => {
          underWay = { sweep, txHash }
          report({ event: 'fees.sweep_signed', txHash, payments: challengeNonces.length, amount })
          resolve(txHash)
        })
        // A sweep that went well was signed before.
        void run(sweep, sending).then((failed) => failed && resolve(failed))
      })
    },
  }
}

/** Whether the transfer was signed, and surely does not happen any more. */
const isFinal = (why: SweepFailure): boolean => why === 'reverted' || why === 'displaced'

const messages: Readonly<Record<SweepFailure, string>> = {
  would_revert: 'the token refuses the transfer from the treasury; nothing was sent',
  reverted: 'the transfer was mined and did nothing; its fees are due again',
  displaced: 'another transaction of the treasury key used its txNonce; its fees are due again',
  treasury_short:
    'the treasury holds fewer tokens than the fees that are due: somebody moved money, which has to come back',
  unfunded: 'the treasury cannot pay the gas of the transfer: send it native coins',
  unavailable: 'the node or the disk gave no answer; it is tried again',
}

function sumOf(due: readonly RecipientDue[]): SweepView['due'] {
  const payments = due.reduce((sum, fees) => sum + fees.payments, 0)
  const amount = due.reduce((sum, fees) => sum + fees.amount, 0n) as FeeSum['amount']
  if (due.length === 0) return { payments, amount }
  return { payments, amount, oldestAt: Math.min(...due.map(({ oldestAt }) => oldestAt)) }
}
