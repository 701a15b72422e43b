/**
 * The one sweep that may be under way, from its signature to its end. A transfer of tokens has no replay protection but its
 * txNonce, so that the next sweep must know how the last one ended.
 */
import { backOffMs, type TxHash } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { OpenSweep, Sweep } from '../records.js'
import type { FeeLedger, SweepEvent, SweepFailure, SweepOutcome, SweepSender } from './ports.js'

export type UnderWay = { readonly sweep: Sweep; readonly txHash?: TxHash }

export type LastFailure = { readonly why: SweepFailure; readonly message: string; readonly at: number }

export type OneSweep = {
  underWay(): UnderWay | undefined
  /** Goes on with a sweep that an earlier run, or a refused record, left open. */
  takeUp(sweep: OpenSweep): void
  /** Resolves when the sweep is signed and recorded, or has failed before. */
  start(sweep: Sweep): Promise<TxHash | LastFailure>
  /** A failure before any sweep was chosen. */
  fail(err: unknown): void
  /** The last failure, until a sweep goes well. */
  lastFailure(): LastFailure | undefined
  /** Whether the pause after a failure has not passed yet. */
  isResting(): boolean
}

export function createOneSweep(deps: {
  readonly ledger: Pick<FeeLedger, 'openSweeps' | 'endSweep'>
  readonly sender: SweepSender
  readonly clock: Pick<Clock, 'now'>
  /** First and longest pause after a failure. */
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly report: (event: SweepEvent) => void
}): OneSweep {
  const { ledger, sender, clock, report } = deps
  let underWay: UnderWay | undefined
  let failures = 0
  let restUntilMs = 0
  let lastFailure: LastFailure | undefined

  function fail(why: SweepFailure, err: unknown): LastFailure {
    const message = `${messages[why]}${err instanceof Error ? ` (${err.message})` : ''}`
    failures += 1
    restUntilMs = clock.now() + backOffMs(failures, deps.retryMs.first, deps.retryMs.max)
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

  async function run(sweep: Sweep, outcome: Promise<SweepOutcome>): Promise<LastFailure | undefined> {
    try {
      return await conclude(sweep, await outcome)
    } catch (err) {
      return fail('unavailable', err)
    } finally {
      underWay = undefined
    }
  }

  return {
    underWay: () => underWay,
    takeUp(sweep) {
      const newest = sweep.transactions.at(-1)
      underWay = { sweep, ...(newest && { txHash: newest.hash }) }
      report({ event: 'fees.sweep_resumed', payments: sweep.challengeNonces.length, amount: sweep.amount })
      void run(sweep, sender.resume(sweep))
    },
    start(sweep) {
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
    fail: (err) => void fail('unavailable', err),
    lastFailure: () => lastFailure,
    isResting: () => clock.now() < restUntilMs,
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
