/** The store on a PostgreSQL server, whose own journal makes it durable. */
import { SvcError } from '@svc-zerc20/protocol'
import { type GroupSettings, keysOf, type Reply, type Request, runSteps } from '../group.js'
import { ledgerOld } from '../ledger-old.js'
import { createRows, type Doubt, isUnderWay, type Keys, type ReadRows, settingIn } from '../rows/rows.js'
import { type Query, type Row, type Step, serverNow, sql } from '../sql.js'
import { asStore, type Store, type StoreOptions } from '../store.js'
import { createWaiting } from '../waiting.js'
import { type Client, connect, type Database, runStep } from './client.js'
import { createLeases } from './leases.js'
import { openTables } from './prepare-schema.js'
import { commit, fingerprint, inLedger, inTransaction, ledgerNow, noLedger } from './transaction.js'

export type PostgresOptions = Pick<StoreOptions, 'clock' | 'onFailure' | 'waitMs' | 'isCopyAccepted'> & {
  readonly database: Database
  readonly settings: GroupSettings
}

/** Steps of one transaction, which nobody else can write beside. */
const groupMax = 200

/** Throws `SvcError('ledger_newer')` for a newer schema. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, onFailure, waitMs, isCopyAccepted = false } = options
  const client = connect(options.database)
  try {
    await openTables(client, options.database, isCopyAccepted)
    const [ledger] = await client.read((send) =>
      send(sql`SELECT id, opened.* FROM ledger, (${ledgerNow(0)}) AS opened`),
    )
    if (!ledger) throw noLedger()
    const health = createHealth(onFailure)
    const writer = createWriter(client, health, options.settings, ledger)
    const { look, runAside, runLocked } = writer
    const leases = createLeases({ look, runAside, runLocked, onFailure: health.failed })
    const waiting = createWaiting(waitMs)
    const asked: Request[] = []
    let working: Promise<void> | undefined
    const work = async () => {
      while (asked.length > 0) waiting.settle(await writer.run(asked.splice(0, groupMax)))
      working = undefined
    }
    return asStore({
      id: ledger.id,
      report: { lines: ledger.applied, bytes: 0, tornBytes: 0 },
      isCopy: ledger.state === 'copy' || isCopyAccepted,
      isOld: writer.isOld,
      leases,
      run(request) {
        asked.push({ ...request, nowMs: clock.now() })
        const reply = waiting.add()
        working ??= work()
        return reply
      },
      ask: (question) =>
        client
          .read((send) => runStep(question, send))
          .catch((error) => {
            throw error instanceof SvcError ? error : unwritable(error)
          }),
      figures: writer.figures,
      async close() {
        await working
        waiting.close()
        await leases.close()
        await client.close()
      },
    })
  } catch (error) {
    await client.close()
    throw error
  }
}

const lostEvents = () =>
  ledgerOld(
    'the database lacks events that a daemon was told are durable: a standby took over too early',
    'storage.url',
  )

const unwritable = (cause: unknown) =>
  new SvcError('ledger_failed', 'the database of the ledger cannot be used', { cause })

/** Codes of the errors which say that this daemon may not write to the ledger. */
const refusals = new Set(['ledger_locked', 'ledger_old', 'ledger_newer', 'config_invalid'])

/** Whether the server takes what is written. A refusal that only an operator can end stays. */
function createHealth(onFailure: (error: unknown) => void) {
  let failure: unknown
  const isForGood = (error: unknown) => error instanceof SvcError && refusals.has(error.code)
  return {
    succeeded(): void {
      if (!isForGood(failure)) failure = undefined
    },
    failed(error: unknown): void {
      if (failure === undefined || isForGood(error) !== isForGood(failure)) onFailure(error)
      failure = isForGood(failure) ? failure : error
    },
    isFailed: () => failure !== undefined,
  }
}

/** The ledger as this daemon was told of it last. */
type Known = {
  /** The newest event: its number, and its print, because after a failover that lost it another event may have its number. */
  readonly number: number
  readonly print?: string | null
  readonly forgotten: number
  /** The copy that was accepted last by then. */
  readonly copy: number
}

const knownOf = (ledger: Row): Known => ({
  number: ledger.applied,
  print: ledger.newest_print,
  forgotten: ledger.forgotten,
  copy: copyIn(ledger),
})

/** The copy that was accepted last, by its newest event: one that is accepted later has at least the event that tells of it. */
const copyIn = ({ doubt }: Row): number => (doubt ? settingIn<Doubt>({ record: doubt }).event : -1)

/**
 * Whether the ledger went back behind what was told. After data loss the server may give an event's number to another one, so
 * the print is compared, too; a forgotten event has none. Behind a copy that was accepted since, the event has been doubted
 * already, and what happened after that is not in doubt.
 */
function lacks(ledger: Row, told: Known): boolean {
  const { applied, known_print: print } = ledger
  if (copyIn(ledger) > told.copy) return false
  return applied < told.number || (!!print && !!told.print && print !== told.print)
}

const noKeys: Keys = { nonces: [], payers: [] }

/**
 * The transactions of this daemon, and what it was told of the ledger. The rows are good while nobody else writes, which the
 * number of the newest event tells.
 */
function createTransactions(client: Client, health: ReturnType<typeof createHealth>, opened: Row) {
  const rows = createRows()
  /** What we were told is durable. */
  let known = knownOf(opened)
  let isOld = false

  function forgetIfChanged({ applied, forgotten }: Row): void {
    if (applied !== known.number || forgotten !== known.forgotten) rows.forgetAll()
  }

  /**
   * Runs a step that sees the ledger's row, and tells of each event. A standby that took over may lack what we were told is
   * durable. The daemon that notices tells the others by the ledger's state, and nothing is believed until the active one has
   * accepted the database as a copy.
   */
  async function inKnown<T>(
    work: (ledger: Row, isCopy: boolean, onEvent: (at: number, json: string) => void) => Step<T>,
    keys = noKeys,
  ): Promise<T> {
    const told = known
    const asking = rows.lacking(keys)
    let isCopy = false
    let next = told
    const onEvent = (_at: number, json: string) => {
      next = { ...next, number: next.number + 1, print: fingerprint.of(json) }
    }
    const { value } = await inLedger(
      client,
      told.number,
      function* (ledger, asked) {
        const isLacking = lacks(ledger, told)
        if (isLacking) yield sql`UPDATE ledger SET state = 'copy' WHERE state = 'live'`
        isCopy = isLacking || ledger.state === 'copy'
        forgetIfChanged(ledger)
        next = knownOf(ledger)
        rows.preload(rowsRead(asking, asked))
        return { value: yield* work(ledger, isCopy, onEvent), applied: next.number }
      },
      readingRows(asking),
    )
    // Only now: all others know of it as well.
    if (isCopy && !isOld) health.failed(unwritable(lostEvents()))
    isOld = isCopy
    known = next
    if (!isOld) health.succeeded()
    return value
  }

  /** Compares what we were told with the ledger, and takes its lock only when it went back, or was accepted since. */
  async function look(): Promise<void> {
    const told = known
    const [ledger] = await client.read((send) => send(ledgerNow(told.number)))
    if (!ledger) throw noLedger()
    if (lacks(ledger, told) || (ledger.state === 'copy') !== isOld) return inKnown(nothing)
    // A step of ours may have been told of more meanwhile.
    if (ledger.applied < known.number) return
    forgetIfChanged(ledger)
    known = knownOf(ledger)
  }

  return {
    rows,
    inKnown,
    look,
    newest: () => known.number,
    isOld: () => isOld,
    /** The database was accepted as a copy, or a part of it was. */
    accepted(isWhole: boolean): void {
      isOld = !isWhole
      if (isWhole) health.succeeded()
    },
    /** A step that changes nothing of the ledger, and waits for nobody who holds its lock. */
    async runAside<T>(step: () => Step<T>): Promise<T> {
      const value = await inTransaction(client, [], async (send) => {
        const done = await runStep(step(), send)
        await send(commit)
        return done
      })
      if (!isOld) health.succeeded()
      return value
    },
  }
}

function createWriter(
  client: Client,
  health: ReturnType<typeof createHealth>,
  settings: GroupSettings,
  opened: Row,
) {
  const { rows, inKnown, accepted, newest, ...told } = createTransactions(client, health, opened)
  let syncs = 0

  const runGroup = (requests: readonly Request[]): Promise<readonly Reply[]> =>
    inKnown(function* (ledger, isCopy, onEvent) {
      if (isCopy && !isAcceptance(requests)) {
        return requests.map(() => ({ error: unwritable(lostEvents()) }))
      }
      const shared = { terms: JSON.parse(ledger.terms), now: serverNow }
      const { replies } = yield* runSteps(requests, {
        applied: ledger.applied,
        settings,
        rows,
        shared,
        onEvent,
      })
      return replies
    }, keysOf(requests))

  async function runEach(requests: readonly Request[]): Promise<readonly Reply[]> {
    const replies: Reply[] = []
    for (const request of requests) replies.push(...(await run([request])))
    return replies
  }

  /** A step that takes its group with it must not take the others: each is tried by itself. */
  async function run(requests: readonly Request[]): Promise<readonly Reply[]> {
    // All others are refused before a copy is accepted, and must not be the reason why it is not.
    if (requests.length > 1 && requests.some(({ name }) => name === 'acceptCopy')) return runEach(requests)
    try {
      syncs += 1
      const replies = await runGroup(requests)
      const [reply] = replies
      if (isAcceptance(requests) && reply && 'value' in reply) accepted(reply.value !== 'begun')
      return replies
    } catch (error) {
      rows.forgetAll()
      if (isOfStep(error) && requests.length > 1) return runEach(requests)
      if (error instanceof SvcError && isOfStep(error)) return [{ error }]
      health.failed(error)
      return requests.map(() => ({ error: unwritable(error) }))
    }
  }

  return {
    ...told,
    run,
    /** A step that records no event, behind the lock. */
    runLocked: <T>(step: () => Step<T>): Promise<T> => inKnown(step),
    figures: () => ({ records: newest(), bytes: 0, syncs, failed: health.isFailed(), lost: false }),
  }
}

function* nothing(): Step<void> {}

/** A list in one value, so that lists of any length have one text, for which the server keeps one plan. */
const anyOf = (keys: readonly string[]): Query =>
  sql`ANY(CAST(${`{${keys.map((hex) => `"\\\\x${hex.slice(2)}"`).join(',')}}`} AS BYTEA[]))`

/** Asks for all rows of these keys. */
const readingRows = ({ nonces, payers }: Keys): readonly Query[] => {
  const payments = sql`SELECT id, record FROM payment WHERE nonce = ${anyOf(nonces)}`
  const leaves = sql`SELECT nonce, payment, place, record FROM leaf WHERE nonce = ${anyOf(nonces)} ORDER BY place`
  const claims = sql`
    SELECT claim_payer, record FROM payment WHERE claim_payer = ${anyOf(payers)} AND ${isUnderWay} ORDER BY id`
  return nonces.length + payers.length > 0 ? [payments, leaves, claims] : []
}

const rowsRead = (
  keys: Keys,
  [payments = [], leaves = [], claims = []]: readonly (readonly Row[])[],
): ReadRows => ({ ...keys, payments, leaves, claims })

/** It is alone in its group. */
const isAcceptance = ([request]: readonly Request[]): boolean => request?.name === 'acceptCopy'

/** An error of what a step did, and not of the way to the server, or of who may write there. */
const isOfStep = (error: unknown): boolean =>
  error instanceof SvcError
    ? !refusals.has(error.code)
    : /^2[23]/.test(String((error as { code?: unknown }).code))
