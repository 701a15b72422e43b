/** The store on a PostgreSQL server, whose own journal makes it durable. */
import { createHash } from 'node:crypto'
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { asOneStep, type GroupSettings, noncesIn, type Reply, type Request } from '../group.js'
import { old } from '../journal/mark.js'
import { leavesOf } from '../rows/leaf-rows.js'
import { paymentsOf } from '../rows/payment-rows.js'
import { createRows } from '../rows/rows.js'
import { type Query, type Row, type Step, sql } from '../sql.js'
import { asStore, type Store, type StoreOptions } from '../store.js'
import { createWaiting } from '../waiting.js'
import { type Client, connect, type Database, runStep } from './client.js'
import { createLeases } from './leases.js'
import { openTables } from './prepare-schema.js'
import { type InLedger, inLedger } from './transaction.js'

export type PostgresOptions = Pick<StoreOptions, 'clock' | 'onFailure' | 'waitMs' | 'isCopyAccepted'> & {
  readonly database: Database
  readonly settings: GroupSettings
}

/** Steps of one transaction, which nobody else can write beside. */
const groupMax = 200

const hintChannel = 'svc_ledger'
/** Without rows of its own, so that nobody waits for its answer. */
const hint = sql`NOTIFY svc_ledger`

/** Lists of any length have few texts this way, for each of which the server keeps a plan. The last value is repeated. */
function inFewTexts({ text, values }: Query): Query {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  const more = length - values.length
  return {
    text: text.replace(/\?(?=\))/, `?${', ?'.repeat(more)}`),
    values: [...values, ...Array.from({ length: more }, () => values.at(-1) ?? null)],
  }
}

/** Throws `SvcError('ledger_newer')` for a newer schema. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, onFailure, waitMs, isCopyAccepted = false } = options
  const client = connect(options.database)
  try {
    await openTables(client, options.database, isCopyAccepted)
    const [ledger] = await client.read((send) => send(sql`SELECT id, applied, state FROM ledger`))
    const health = createHealth(onFailure)
    const writer = createWriter(client, health, options.settings, ledger?.applied)
    const leases = createLeases({ run: writer.runBeside, onFailure: health.failed })
    const hints = await client.listen(hintChannel)
    const waiting = createWaiting(waitMs)
    const asked: Request[] = []
    let working: Promise<void> | undefined
    const work = async () => {
      while (asked.length > 0) waiting.settle(await writer.run(asked.splice(0, groupMax)))
      working = undefined
    }
    return asStore({
      id: ledger?.id,
      report: { lines: ledger?.applied, bytes: 0, tornBytes: 0 },
      isCopy: ledger?.state === 'copy' || isCopyAccepted,
      isOld: writer.isOld,
      leases,
      hints,
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
  old(
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

/** An event by its number. Its print tells it from another one that has its number on a server which lost it. */
type Known = { readonly number: number; readonly print?: string | null | undefined }

type OnEvent = (at: number, json: string) => void

const printOf = (json: string) => createHash('md5').update(json).digest('hex')

function createWriter(
  client: Client,
  health: ReturnType<typeof createHealth>,
  settings: GroupSettings,
  newest: number,
) {
  /** The newest event that we were told is durable. */
  let known: Known = { number: newest }
  let syncs = 0
  let isOld = false

  /** A server that lost the event may have given its number to another one since. One that was forgotten has no print. */
  const lacks = (told: Known, { applied, known_print: print }: Row): boolean =>
    applied < told.number || (!!print && !!told.print && print !== told.print)

  /**
   * A standby that took over may lack what we were told is durable. Whoever notices tells all daemons by the ledger's state,
   * and nothing is believed until the one that works has accepted the database as a copy.
   */
  async function inKnown<T>(
    work: (ledger: Row, isOld: boolean, asked: readonly (readonly Row[])[], onEvent: OnEvent) => InLedger<T>,
    questions?: readonly Query[],
  ): Promise<T> {
    // More may be told while this waits for its turn.
    const told = known
    let seen = { isOld, print: undefined as string | null | undefined }
    const onEvent: OnEvent = (_at, json) => {
      seen = { ...seen, print: printOf(json) }
    }
    const { value, applied } = await inLedger(
      client,
      told.number,
      function* (ledger, asked) {
        const isLacking = lacks(told, ledger)
        if (isLacking) yield sql`UPDATE ledger SET state = 'copy' WHERE state = 'live'`
        seen = { isOld: isLacking || ledger.state === 'copy', print: ledger.newest_print }
        return yield* work(ledger, seen.isOld, asked, onEvent)
      },
      questions,
    )
    // Only now: all others know of it as well.
    if (seen.isOld && !isOld) health.failed(unwritable(lostEvents()))
    isOld = seen.isOld
    known = { number: applied, print: seen.print }
    if (!isOld) health.succeeded()
    return value
  }

  async function runGroup(requests: readonly Request[]): Promise<readonly Reply[]> {
    const nonces = noncesIn(requests)
    const isAccepting = requests.every(({ name }) => name === 'acceptCopy')
    const replies = await inKnown(
      (ledger, isOfCopy, asked, onEvent) =>
        isOfCopy && !isAccepting
          ? refusing(requests, ledger)
          : inGroup(requests, { ledger, nonces, asked, settings, onEvent }),
      nonces.length === 0 ? [] : [paymentsOf(nonces), leavesOf(nonces)].map(inFewTexts),
    )
    if (isAccepting && replies.every((reply) => 'value' in reply)) {
      isOld = false
      health.succeeded()
    }
    syncs += 1
    return replies
  }

  /** A step that takes its group with it must not take the others: each is tried by itself. */
  async function run(requests: readonly Request[]): Promise<readonly Reply[]> {
    try {
      return await runGroup(requests)
    } catch (error) {
      if (isOfStep(error) && requests.length > 1) {
        const replies: Reply[] = []
        for (const request of requests) replies.push(...(await run([request])))
        return replies
      }
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
    isOld: () => isOld,
    figures: () => ({ records: known.number, bytes: 0, syncs, failed: health.isFailed(), lost: false }),
  }
}

function* refusing(requests: readonly Request[], { applied }: Row): InLedger<readonly Reply[]> {
  return { value: requests.map(() => ({ error: unwritable(lostEvents()) })), applied }
}

function* inGroup(
  requests: readonly Request[],
  deps: {
    readonly ledger: Row
    readonly nonces: readonly ChallengeNonce[]
    /** The rows of these payments and of their leaves. */
    readonly asked: readonly (readonly Row[])[]
    readonly settings: GroupSettings
    readonly onEvent: OnEvent
  },
): InLedger<readonly Reply[]> {
  const { ledger, settings, onEvent } = deps
  const { applied } = ledger
  const [payments = [], leaves = []] = deps.asked
  const rows = createRows()
  rows.preload(deps.nonces, payments, leaves)
  const shared = { terms: JSON.parse(ledger.terms), nowMs: ledger.now_ms }
  const group = yield* asOneStep(requests, { applied, settings, rows, shared, onEvent })
  // Delivered with the commit.
  if (group.applied > applied) yield hint
  return { value: group.replies, applied: group.applied }
}

/** An error of what a step did, and not of the way to the server, or of who may write there. */
const isOfStep = (error: unknown): boolean =>
  error instanceof SvcError
    ? !refusals.has(error.code)
    : /^2[23]/.test(String((error as { code?: unknown }).code))
