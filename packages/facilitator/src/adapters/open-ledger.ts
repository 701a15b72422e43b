/** The ledger as the configuration wants it: behind a journal file, or in memory alone. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Challenge, Clock } from '../payment/ports.js'
import type { Shares } from '../payment/shares.js'
import type { IssuedAddresses } from '../transfers/issued-addresses.js'
import type { JournalStats } from './journal.js'
import { openJournal } from './journal-file.js'
import type { ReplayReport } from './journal-replay.js'
import { createLedger, type EventLog, type JournalledLedger, noEventLog } from './ledger.js'
import { type CompactLedger, createCompactLedger } from './ledger-compaction.js'
import { type Binding, fromFields, toFields } from './ledger-event.js'
import { readEvent } from './ledger-line.js'
import { createLedgerState, type LedgerState } from './ledger-state.js'
import { createLedgerSteps, inSteps } from './ledger-steps.js'
import { assertSameSeed, type SeedCheck } from './seed-check.js'

export type OpenLedger = {
  readonly ledger: JournalledLedger
  /** Every address issued lately; absent when nobody wanted it opened. */
  readonly issued?: IssuedAddresses
  /** Absent without a journal. */
  readonly replay?: ReplayReport
  journalStats(): JournalStats | undefined
  readonly compact: CompactLedger
  close(): Promise<void>
}

export async function openLedger(deps: {
  /** A path, or `none`. */
  journal: string
  binding: Omit<Binding, 'seed'>
  clock: Clock
  openMax: number
  openShares?: Shares
  expiredRetentionSeconds: number
  unmatchedMax: { readonly perChallenge: number; readonly total: number }
  onJournalFailure: (err: unknown) => void
  /** Of the treasury key of today; a journal of another key is refused. */
  seed?: SeedCheck
  /** Opens the issued addresses, once the journal is ours and read; told what it holds. */
  openIssued?: (recorded: Iterable<Challenge>) => Promise<IssuedAddresses>
}): Promise<OpenLedger> {
  const { clock, openMax, openShares, expiredRetentionSeconds, unmatchedMax } = deps
  const state = createLedgerState()
  const openIssued = async () => deps.openIssued?.(state.challenges())
  const create = (log: EventLog, issued: IssuedAddresses | undefined) =>
    createLedger({ state, log, clock, openMax, openShares, expiredRetentionSeconds, unmatchedMax, issued })
  if (deps.journal === 'none') {
    const issued = await openIssued()
    return {
      ledger: create(noEventLog, issued),
      ...(issued && { issued }),
      journalStats: () => undefined,
      compact: async () => 'nothing_to_gain',
      close: async () => issued?.close(),
    }
  }
  const opened = await openJournal({
    path: deps.journal,
    onRecord: (line) => state.apply(readEvent(line)),
    onFailure: deps.onJournalFailure,
  })
  const { journal, replay, close } = opened
  const steps = createLedgerSteps()
  const log: EventLog = {
    async append(event) {
      if (steps.running() === 0) throw new SvcError('invariant', `${event.event} is recorded outside a step`)
      const fields = toFields(event)
      // What cannot be read back must not be written: it would stop every later start.
      fromFields(fields)
      await journal.append(fields)
    },
    durable: () => journal.durable(),
  }
  try {
    await steps.run(() => bind(state, deps.binding, deps.seed, log))
    const issued = await openIssued()
    const ledger = inSteps(create(log, issued), steps)
    return {
      ledger,
      ...(issued && { issued }),
      replay,
      journalStats: () => journal.stats(),
      compact: createCompactLedger({ opened, state, ledger, steps, issued }),
      close: () => (issued ? issued.close().finally(close) : close()),
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * A new journal is bound to what it will speak of. One of another chain, token or treasury key is refused, and one of
 * another helper while burns through that helper are under way: their outcome would be looked for at the wrong place.
 */
async function bind(
  state: LedgerState,
  wanted: Omit<Binding, 'seed'>,
  seed: SeedCheck | undefined,
  log: EventLog,
): Promise<void> {
  const known = state.binding()
  if (known && (known.chainId !== wanted.chainId || known.token !== wanted.token)) {
    throw new SvcError(
      'config_invalid',
      `settlement.journal: it belongs to token ${known.token} on chain ${known.chainId}; give this network a journal of its own`,
    )
  }
  if (seed) assertSameSeed(state, seed)
  if (known && known.helper !== wanted.helper && state.outstanding().length > 0) {
    throw new SvcError(
      'config_invalid',
      `settlement.permit_burner: burns through ${known.helper ?? 'no helper'} are under way; keep it until they ended`,
    )
  }
  if (known && known.helper === wanted.helper && (!seed || known.seed)) return
  const fingerprint = seed?.fingerprint ?? known?.seed
  const binding = { ...wanted, ...(fingerprint !== undefined && { seed: fingerprint }) }
  const event = { event: 'ledger_bound', binding } as const
  await log.append(event)
  state.apply(event)
}
