/** The ledger as the configuration wants it: behind a journal file, or in memory alone. */
import { SvcError } from '@svc-zerc20/protocol'
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import type { OpenedJournal } from '../addresses/issued/binding.js'
import { assertSameSeed, type SeedCheck } from '../addresses/seed-check.js'
import type { Shares } from '../payment/issue/shares.js'
import type { Clock } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'
import { systemRandom } from '../system.js'
import { type CompactLedger, createCompactLedger } from './compaction.js'
import { type EventLog, noEventLog } from './core.js'
import { openJournal } from './journal/file.js'
import type { JournalStats } from './journal/journal.js'
import { assertNewest, markFileOf, readMark } from './journal/mark.js'
import { keepMark } from './journal/mark-keeper.js'
import type { ReplayReport } from './journal/replay.js'
import { createLedger, type EventLedger } from './ledger.js'
import type { Binding } from './records/events.js'
import { fromFields, readEvent, toFields } from './records/line.js'
import { createRescue } from './rescue.js'
import type { KeepSigned } from './state/signed-burns.js'
import { createLedgerState, type LedgerState } from './state/state.js'
import { createLedgerSteps, inSteps } from './steps.js'

export type OpenLedger = {
  readonly ledger: EventLedger
  /** Every address issued lately; absent when nobody wanted it opened. */
  readonly issued?: IssuedAddresses
  /** Absent without a journal. */
  readonly replay?: ReplayReport
  journalStats(): JournalStats | undefined
  /** Writes a record that says nothing new, to find out whether the disk takes any; throws when it does not. */
  tryJournal(): Promise<void>
  readonly compact: CompactLedger
  /** The relayer that the journal knows, and the highest nonce it knows of it. Absent without a journal. */
  knownRelayer?(): Binding['relayer']
  bindRelayer?(relayer: NonNullable<Binding['relayer']>): Promise<void>
  close(): Promise<void>
}

export async function openLedger(deps: {
  /** A path, or `none`. */
  journal: string
  binding: Pick<Binding, 'chainId' | 'token' | 'helper'>
  clock: Clock
  openMax: number
  openShares?: Shares
  expiredRetentionSeconds: number
  unmatchedMax: { readonly perChallenge: number; readonly total: number }
  /** Nothing is kept by default. */
  keepSigned?: KeepSigned
  onJournalFailure: (err: unknown) => void
  /** Of the treasury key of today; a journal of another key is refused. */
  seed?: SeedCheck
  /** Goes on with a journal that is not the newest: the operator said so. */
  acceptJournal?: boolean | undefined
  /** Opens the issued addresses, once the journal is ours and read; told what it holds and which one it is. */
  openIssued?: (recorded: Iterable<Challenge>, journal: OpenedJournal | undefined) => Promise<IssuedAddresses>
}): Promise<OpenLedger> {
  const { clock, openMax, openShares, expiredRetentionSeconds, unmatchedMax } = deps
  const state = createLedgerState(deps.keepSigned)
  const openIssued = async (journal?: OpenedJournal) => deps.openIssued?.(state.challenges(), journal)
  const create = (log: EventLog, issued: IssuedAddresses | undefined) =>
    createLedger({ state, log, clock, openMax, openShares, expiredRetentionSeconds, unmatchedMax, issued })
  if (deps.journal === 'none') {
    const issued = await openIssued()
    return {
      ledger: create(noEventLog, issued),
      ...(issued && { issued }),
      journalStats: () => undefined,
      tryJournal: async () => undefined,
      compact: async () => 'nothing_to_gain',
      close: async () => issued?.close(),
    }
  }
  const steps = createLedgerSteps()
  let rescue = async () => {}
  const opened = await openJournal({
    path: deps.journal,
    onRecord: (line) => state.apply(readEvent(line)),
    async assertUsable(path, { records }) {
      if (!deps.acceptJournal)
        assertNewest(path, positionOf(state, records), await readMark(markFileOf(path)))
    },
    onFailure: deps.onJournalFailure,
    onLost: () => void rescue(),
  })
  const { journal, replay, path } = opened
  rescue = createRescue({ path, state, steps, onFailure: deps.onJournalFailure })
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
    const { id = '', generation = 0 } = state.binding() ?? {}
    const issued = await openIssued({ id, generation, isAccepted: deps.acceptJournal === true })
    const ledger = inSteps(create(log, issued), steps)
    const position = () => ({
      ...positionOf(state, journal.stats().recordsHeld),
      id: state.binding()?.id ?? '',
    })
    const mark = keepMark(markFileOf(path), position, deps.acceptJournal === true)
    return {
      ledger,
      ...(issued && { issued }),
      replay,
      journalStats: () => ({ ...journal.stats(), lost: opened.lost() !== undefined }),
      async tryJournal() {
        const binding = state.binding()
        if (binding) await steps.run(() => log.append({ event: 'ledger_bound', binding }))
      },
      compact: createCompactLedger({ opened, state, ledger, steps, issued }),
      knownRelayer: () => state.binding()?.relayer,
      bindRelayer: (relayer) => steps.run(() => bindRelayer(state, relayer, log)),
      async close() {
        await issued?.close().catch(deps.onJournalFailure)
        const lost = opened.lost()
        // Again: answers may have been given since.
        await (lost ? rescue() : mark.close())
        await opened.close()
        if (lost) throw lost
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const positionOf = (state: LedgerState, records: number) => ({
  id: state.binding()?.id,
  generation: state.binding()?.generation ?? 0,
  records,
})

async function bindRelayer(
  state: LedgerState,
  relayer: NonNullable<Binding['relayer']>,
  log: EventLog,
): Promise<void> {
  const known = state.binding()
  if (!known) throw new SvcError('invariant', 'the journal is not bound to anything')
  const event = { event: 'ledger_bound', binding: { ...known, relayer } } as const
  await log.append(event)
  state.apply(event)
}

/**
 * A new journal is bound to what it will speak of. One of another chain, token or treasury key is refused, and one of
 * another helper while burns through that helper are under way: their outcome would be looked for at the wrong place.
 */
async function bind(
  state: LedgerState,
  wanted: Pick<Binding, 'chainId' | 'token' | 'helper'>,
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
  if (known?.id !== undefined && known.helper === wanted.helper && (!seed || known.seed)) return
  const { seed: recorded, id = newId(), generation = 0, relayer }: Partial<Binding> = known ?? {}
  const fingerprint = seed?.fingerprint ?? recorded
  const binding: Binding = {
    ...wanted,
    ...(fingerprint !== undefined && { seed: fingerprint }),
    id,
    generation,
    ...(relayer && { relayer }),
  }
  const event = { event: 'ledger_bound', binding } as const
  await log.append(event)
  state.apply(event)
}

const idBytes = 16
const newId = () => Buffer.from(systemRandom.bytes(idBytes)).toString('hex')
