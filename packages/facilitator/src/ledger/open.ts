/** Opens the ledger as the configuration asks: behind a journal file, or in memory alone. */
import { SvcError } from '@svc-zerc20/protocol'
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import type { OpenedJournal } from '../addresses/issued/binding.js'
import type { SeedCheck } from '../addresses/seed-check.js'
import type { HistoryPort } from '../payment/history-port.js'
import type { Shares } from '../payment/issue/shares.js'
import type { Clock } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'
import { type CompactLedger, createCompactLedger } from './compact-ledger.js'
import { type EventLog, noEventLog } from './core.js'
import { fromFields, readEvent, toFields } from './events/event-line.js'
import type { KnownAccount } from './events/events.js'
import { type Behind, createBehind } from './history/catch-up.js'
import { openLedgerHistory } from './history/ledger-history.js'
import { notedLedger, notedState } from './history/noted-ledger.js'
import type { Journal, JournalStats } from './journal/journal.js'
import { assertNewest, markFileOf, readMark } from './journal/mark.js'
import { keepMark } from './journal/mark-keeper.js'
import { type OpenedJournal as OpenedFile, openJournal } from './journal/open-journal.js'
import type { ReplayReport } from './journal/replay.js'
import { createLedger, type EventLedger } from './ledger.js'
import { createRescue } from './rescue.js'
import { bindAccount, bindJournal, newLedgerId, type WantedBinding } from './state/bind-journal.js'
import type { KeepSigned } from './state/signed-burns.js'
import { createLedgerState, type LedgerState } from './state/state.js'
import { createLedgerSteps, inSteps, type LedgerSteps } from './steps.js'

export type OpenLedger = {
  /** Tells this ledger from every other one, also of the same treasury; made with its journal. */
  readonly id: string
  readonly ledger: EventLedger
  /** Every address that was issued lately; absent when the caller did not ask for it. */
  readonly issued?: IssuedAddresses
  /** Absent without a journal. */
  readonly replay?: ReplayReport
  journalStats(): JournalStats | undefined
  /** Writes a record without news, to find out whether the disk takes records; throws when it refuses. */
  tryJournal(): Promise<void>
  readonly compact: CompactLedger
  /** An account in the journal, with the highest nonce that is known of it. Absent without a journal. */
  knownAccount?(name: 'relayer' | 'minter'): KnownAccount | undefined
  bindAccount?(name: 'relayer' | 'minter', account: KnownAccount): Promise<void>
  close(): Promise<void>
}

export type OpenLedgerDeps = {
  /** A path, or `none`. */
  readonly journal: string
  readonly binding: WantedBinding
  readonly clock: Clock
  readonly openMax: number
  readonly openShares?: Shares
  readonly expiredRetentionSeconds: number
  readonly unmatchedMax: { readonly perChallenge: number; readonly total: number }
  /** By default no signed transaction of an accepted burn is kept. */
  readonly keepSigned?: KeepSigned
  readonly onJournalFailure: (err: unknown) => void
  /** Checks today's treasury key; a journal of another key is refused. */
  readonly seed?: SeedCheck
  /** Goes on with a journal that is not the newest, because the operator said so. */
  readonly acceptJournal?: boolean | undefined
  /** Opens the issued addresses once the journal is locked and read. Told the recorded challenges and the journal. */
  readonly openIssued?: (
    recorded: Iterable<Challenge>,
    journal: OpenedJournal | undefined,
  ) => Promise<IssuedAddresses>
  /** Records every turn of a payment. It is opened before the ledger and closed after it. */
  readonly history?: HistoryPort
  /** The history has what the journal knew of this many payments. */
  readonly onHistoryCaughtUp?: (payments: number) => void
}

export const openLedger = (deps: OpenLedgerDeps): Promise<OpenLedger> =>
  deps.journal === 'none' ? openInMemory(deps) : openWithJournal(deps)

async function openInMemory(deps: OpenLedgerDeps): Promise<OpenLedger> {
  const state = createLedgerState(deps.keepSigned)
  const issued = await deps.openIssued?.(state.challenges(), undefined)
  return {
    id: newLedgerId(),
    ledger: ledgerOf(deps, state, noEventLog, issued),
    ...(issued && { issued }),
    journalStats: () => undefined,
    tryJournal: async () => undefined,
    compact: async () => 'nothing_to_gain',
    close: async () => issued?.close(),
  }
}

async function openWithJournal(deps: OpenLedgerDeps): Promise<OpenLedger> {
  const state = createLedgerState(deps.keepSigned)
  const steps = createLedgerSteps()
  let rescue = async () => {}
  const behind = createBehind(deps.history?.completeUpTo())
  const opened = await openJournal({
    path: deps.journal,
    onRecord(line) {
      const event = readEvent(line)
      state.apply(event)
      if (deps.history) behind.saw(event, line.seq)
    },
    async assertUsable(path, { records }) {
      if (!deps.acceptJournal)
        assertNewest(path, positionOf(state, records), await readMark(markFileOf(path)))
    },
    onFailure: deps.onJournalFailure,
    onLost: () => void rescue(),
  })
  rescue = createRescue({ path: opened.path, state, steps, onFailure: deps.onJournalFailure })
  try {
    return await openState(deps, { state, steps, opened, rescue, behind })
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** The ledger of a journal that is locked and read. */
async function openState(
  deps: OpenLedgerDeps,
  parts: {
    readonly state: LedgerState
    readonly steps: LedgerSteps
    readonly opened: OpenedFile
    readonly rescue: () => Promise<void>
    readonly behind: Behind
  },
): Promise<OpenLedger> {
  const { state, steps, opened, rescue } = parts
  const { journal, replay, path } = opened
  const isAccepted = deps.acceptJournal === true
  const log = createJournalLog(journal, steps)
  await steps.run(() => bindJournal(state, deps.binding, deps.seed, log))
  const { id = '', generation = 0 } = state.binding() ?? {}
  const issued = await deps.openIssued?.(state.challenges(), { id, generation, isAccepted })
  const ledger = inSteps(ledgerOf(deps, state, log, issued), steps)
  const position = () => ({
    ...positionOf(state, journal.stats().recordsHeld),
    id: state.binding()?.id ?? '',
  })
  const history = await openLedgerHistory(deps, { ...parts, place: position }).catch(async (error) => {
    await issued?.close().catch(deps.onJournalFailure)
    throw error
  })
  const mark = keepMark(markFileOf(path), position, isAccepted)
  return {
    id,
    ledger,
    ...(issued && { issued }),
    replay,
    journalStats: () => ({ ...journal.stats(), lost: opened.lost() !== undefined }),
    async tryJournal() {
      const binding = state.binding()
      if (binding) await steps.run(() => log.append({ event: 'ledger_bound', binding }))
    },
    compact: createCompactLedger({ opened, state, ledger, steps, issued, history }),
    knownAccount: (name) => state.binding()?.[name],
    bindAccount: (name, account) => steps.run(() => bindAccount(state, name, account, log)),
    async close() {
      await issued?.close().catch(deps.onJournalFailure)
      await history?.close()
      const lost = opened.lost()
      // Saved again: answers may have been given since the first time.
      await (lost ? rescue() : mark.close())
      await opened.close()
      if (lost) throw lost
    },
  }
}

function ledgerOf(
  { clock, openMax, openShares, expiredRetentionSeconds, unmatchedMax, history }: OpenLedgerDeps,
  state: LedgerState,
  log: EventLog,
  issued: IssuedAddresses | undefined,
): EventLedger {
  const ledger = createLedger({
    state: history ? notedState(state, history) : state,
    log,
    clock,
    openMax,
    openShares,
    expiredRetentionSeconds,
    unmatchedMax,
    issued,
  })
  return history ? notedLedger(ledger, state, history) : ledger
}

function createJournalLog(journal: Journal, steps: LedgerSteps): EventLog {
  return {
    async append(event) {
      if (steps.running() === 0) throw new SvcError('invariant', `${event.event} is recorded outside a step`)
      const fields = toFields(event)
      // A record that cannot be read back must not be written: it would stop every later start.
      fromFields(fields)
      await journal.append(fields)
    },
    durable: () => journal.durable(),
  }
}

const positionOf = (state: LedgerState, records: number) => ({
  id: state.binding()?.id,
  generation: state.binding()?.generation ?? 0,
  records,
})
