/** The store on a PostgreSQL server, whose own journal makes it durable. */
import { SvcError } from '@svc-zerc20/protocol'
import { systemRandom } from '../../system.js'
import { type GroupSettings, keysOf, type Reply, type Request, runSteps } from '../group.js'
import type { Fence } from '../lease.js'
import { ledgerOld } from '../ledger-old.js'
import { type Doubt, doubtSetting, type Keys, settingIn } from '../rows/rows.js'
import { type Query, type Row, type Step, serverNow, sql } from '../sql.js'
import { asStore, type Store, type StoreOptions } from '../store.js'
import { createWaiting } from '../waiting.js'
import { type Client, connect, type Database, runStep } from './client.js'
import { createLeases } from './leases.js'
import { createMemory, type LedgerPlace, readingRows } from './memory.js'
import { openTables } from './prepare-schema.js'
import { fingerprint, type InLedger, inLedger, inRememberedLedger, noLedger } from './transaction.js'

export type PostgresOptions = Pick<StoreOptions, 'clock' | 'onFailure' | 'waitMs' | 'isCopyAccepted'> & {
  readonly database: Database
  readonly settings: GroupSettings
}

/** Steps of one transaction, which nobody else can write beside. */
const groupMax = 200

const hintChannel = 'svc_ledger'
/** Tells who wrote. It has no rows, so that nobody waits for its answer. */
const hintOf = (own: string): Query => ({ text: `NOTIFY ${hintChannel}, '${own}'`, values: [] })
const ownBytes = 8

/** Throws `SvcError('ledger_newer')` for a newer schema. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, onFailure, waitMs, isCopyAccepted = false } = options
  const client = connect(options.database)
  try {
    await openTables(client, options.database, isCopyAccepted)
    const [ledger] = await client.read((send) =>
      send(sql`
        SELECT id, applied, state, (SELECT record FROM setting WHERE name = ${doubtSetting}) AS doubt FROM ledger`),
    )
    if (!ledger) throw noLedger()
    const health = createHealth(onFailure)
    const own = Buffer.from(systemRandom.bytes(ownBytes)).toString('hex')
    const writer = createWriter(client, health, { ...options.settings, hint: hintOf(own) }, ledger)
    const leases = createLeases({ run: writer.runBeside, onFailure: health.failed })
    const hints = await client.listen(hintChannel, own)
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
      hints,
      remember: writer.remember,
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

/** An event: its number, and its hash, because after a failover that lost it another event may have its number. */
type Known = {
  readonly number: number
  readonly print?: string | null | undefined
  /** The copy that was accepted last by then. */
  readonly copy: number
}

/** The copy that was accepted last, by its newest event: one that is accepted later has at least the event that tells of it. */
const copyIn = ({ doubt }: Row): number => (doubt ? settingIn<Doubt>({ record: doubt }).event : -1)

type OnEvent = (at: number, json: string) => void

/** The transactions of this daemon, and the newest event that it was told of. */
function createTransactions(client: Client, health: ReturnType<typeof createHealth>, opened: Row) {
  /** The newest event that we were told is durable. */
  let known: Known = { number: opened.applied, copy: copyIn(opened) }
  let isOld = false

  /**
   * After data loss the server may reuse an event's number, so the event's hash is compared, too. A forgotten event has none.
   * Behind a copy that was accepted since, the event has been doubted already, and what happened after that is not in doubt.
   */
  const lacks = (told: Known, ledger: Row): boolean => {
    const { applied, known_print: print } = ledger
    if (copyIn(ledger) > told.copy) return false
    return applied < told.number || (!!print && !!told.print && print !== told.print)
  }

  return {
    known: () => known,
    isOld: () => isOld,
    /** The database was accepted as a copy, or a part of it was. */
    accepted(isWhole: boolean): void {
      isOld = !isWhole
      if (isWhole) health.succeeded()
    },

    /**
     * A standby that took over may lack what we were told is durable. The daemon that notices tells the others by the ledger's
     * state, and nothing is believed until the one that works has accepted the database as a copy.
     */
    async inKnown<T>(
      work: (
        ledger: Row,
        isOld: boolean,
        asked: readonly (readonly Row[])[],
        onEvent: OnEvent,
      ) => InLedger<T>,
      questions?: readonly Query[],
    ): Promise<T> {
      // More may be told while this waits for its turn.
      const told = known
      let seen = { isOld, copy: told.copy, print: undefined as string | null | undefined }
      const onEvent: OnEvent = (_at, json) => {
        seen = { ...seen, print: fingerprint.of(json) }
      }
      const { value, applied } = await inLedger(
        client,
        told.number,
        function* (ledger, asked) {
          const isLacking = lacks(told, ledger)
          if (isLacking) yield sql`UPDATE ledger SET state = 'copy' WHERE state = 'live'`
          seen = {
            isOld: isLacking || ledger.state === 'copy',
            copy: copyIn(ledger),
            print: ledger.newest_print,
          }
          return yield* work(ledger, seen.isOld, asked, onEvent)
        },
        questions,
      )
      // Only now: all others know of it as well.
      if (seen.isOld && !isOld) health.failed(unwritable(lostEvents()))
      isOld = seen.isOld
      known = { number: applied, print: seen.print, copy: seen.copy }
      if (!isOld) health.succeeded()
      return value
    },

    /** Works without a question, if the ledger is the remembered one. Undefined when it is not: then nothing happened. */
    async inRemembered<T>(
      place: LedgerPlace,
      fences: readonly Fence[],
      work: (onEvent: OnEvent) => InLedger<T>,
    ): Promise<T | undefined> {
      let { print } = known
      if (!print) return undefined
      const onEvent: OnEvent = (_at, json) => {
        print = fingerprint.of(json)
      }
      const done = await inRememberedLedger(client, { ...place, print }, fences, () => work(onEvent))
      if (done === 'stale') return undefined
      known = { ...known, number: done.applied, print }
      health.succeeded()
      return done.value
    },
  }
}

function createWriter(
  client: Client,
  health: ReturnType<typeof createHealth>,
  { hint, ...settings }: GroupSettings & { readonly hint: Query },
  opened: Row,
) {
  const { known, isOld, accepted, inKnown, inRemembered } = createTransactions(client, health, opened)
  const memory = createMemory()
  let syncs = 0

  function* inGroup(
    requests: readonly Request[],
    applied: number,
    terms: Readonly<Record<string, number>>,
    onEvent: OnEvent,
  ): InLedger<readonly Reply[]> {
    const { rows } = memory
    const shared = { terms, now: serverNow }
    const group = yield* runSteps(requests, { applied, settings, rows, shared, onEvent })
    // Delivered with the commit.
    if (group.applied > applied) yield hint
    return { value: group.replies, applied: group.applied }
  }

  async function runRemembered(requests: readonly Request[], place: LedgerPlace) {
    const fences = requests.flatMap((request) => request.fences ?? [])
    const terms = Object.fromEntries(fences.map(({ name, term }) => [name, term]))
    const asked = Object.entries(terms).map(([name, term]) => ({ name, term }))
    const replies = await inRemembered(place, asked, (onEvent) =>
      inGroup(requests, place.applied, terms, onEvent),
    )
    if (replies) memory.end({ ...place, applied: known().number })
    else memory.forgetOfOthers()
    return replies
  }

  async function runRead(requests: readonly Request[], keys: Keys): Promise<readonly Reply[]> {
    let forgotten = 0
    const replies = await inKnown((ledger, isOfCopy, asked, onEvent) => {
      memory.load(keys, ledger, asked)
      forgotten = ledger.forgotten
      return isOfCopy && !isAcceptance(requests)
        ? refusing(requests, ledger)
        : inGroup(requests, ledger.applied, JSON.parse(ledger.terms), onEvent)
    }, readingRows(keys))
    memory.end({ applied: known().number, forgotten })
    if (isOld()) memory.forget()
    return replies
  }

  async function runGroup(requests: readonly Request[]): Promise<readonly Reply[]> {
    const keys = keysOf(requests)
    try {
      const place = memory.begin(keys, known().number)
      const replies = (place && (await runRemembered(requests, place))) ?? (await runRead(requests, keys))
      const [reply] = replies
      if (isAcceptance(requests) && reply && 'value' in reply) accepted(reply.value !== 'begun')
      return replies
    } catch (error) {
      memory.forget()
      throw error
    } finally {
      syncs += 1
      if (requests.some(({ name }) => name === 'forget')) memory.forget()
    }
  }

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
      return await runGroup(requests)
    } catch (error) {
      if (isOfStep(error) && requests.length > 1) return runEach(requests)
      if (error instanceof SvcError && isOfStep(error)) return [{ error }]
      health.failed(error)
      return requests.map(() => ({ error: unwritable(error) }))
    }
  }

  return {
    run,
    /** A step that records no event. */
    runBeside: <T>(step: () => Step<T>): Promise<T> =>
      inKnown(function* ({ applied }) {
        return { value: yield* step(), applied }
      }),
    remember: memory.add,
    isOld,
    figures: () => ({ records: known().number, bytes: 0, syncs, failed: health.isFailed(), lost: false }),
  }
}

/** It is alone in its group. */
const isAcceptance = ([request]: readonly Request[]): boolean => request?.name === 'acceptCopy'

function* refusing(requests: readonly Request[], { applied }: Row): InLedger<readonly Reply[]> {
  return { value: requests.map(() => ({ error: unwritable(lostEvents()) })), applied }
}

/** An error of what a step did, and not of the way to the server, or of who may write there. */
const isOfStep = (error: unknown): boolean =>
  error instanceof SvcError
    ? !refusals.has(error.code)
    : /^2[23]/.test(String((error as { code?: unknown }).code))
