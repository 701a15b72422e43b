/** The store on a PostgreSQL server, whose own journal makes it durable. */
import { SvcError } from '@svc-zerc20/protocol'
import { asOneStep, type GroupSettings, type Reply, type Request } from '../group.js'
import { old } from '../journal/mark.js'
import { createRows } from '../rows/rows.js'
import { type Row, sql } from '../sql.js'
import { asStore, type Store, type StoreOptions } from '../store.js'
import { createWaiting } from '../waiting.js'
import { type Client, connect, type Database, runStep } from './client.js'
import { createLeases } from './leases.js'
import { openTables } from './prepare-schema.js'
import { type InLedger, inLedger } from './transaction.js'

export type PostgresOptions = Pick<StoreOptions, 'clock' | 'onFailure' | 'waitMs' | 'isAccepted'> & {
  readonly database: Database
  readonly settings: GroupSettings
}

/** Steps of one transaction, which nobody else can write beside. */
const groupMax = 200

const hintChannel = 'svc_ledger'
/** Without rows of its own, so that nobody waits for its answer. */
const hint = sql`NOTIFY svc_ledger`

/** Throws `SvcError('journal_newer')` for a newer schema. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, onFailure, waitMs, isAccepted = false } = options
  const client = connect(options.database)
  try {
    await openTables(client, options.database, isAccepted)
    const [ledger] = await client.read((send) => send(sql`SELECT id, applied, state FROM ledger`))
    const health = createHealth(onFailure)
    const writer = createWriter(client, health, options.settings, ledger?.applied)
    const leases = createLeases(client, health)
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
      isCopy: ledger?.state === 'copy' || isAccepted,
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

const unwritable = (cause: unknown) =>
  new SvcError('journal_failed', 'the database of the ledger cannot be used', { cause })

/** Of who may write there. */
const refusals = new Set(['journal_locked', 'journal_old', 'journal_newer'])

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

function createWriter(
  client: Client,
  health: ReturnType<typeof createHealth>,
  settings: GroupSettings,
  newest: number,
) {
  let applied = newest
  let syncs = 0

  function* inGroup(ledger: Row, requests: readonly Request[]): InLedger<readonly Reply[]> {
    // A standby that took over may lack what we were told is durable.
    if (ledger.applied < applied)
      throw old(`the database ends at event ${ledger.applied}, and there were ${applied}`, 'storage.url')
    const shared = { terms: JSON.parse(ledger.terms), nowMs: ledger.now_ms }
    const group = yield* asOneStep(requests, {
      applied: ledger.applied,
      settings,
      rows: createRows(),
      shared,
    })
    // Delivered with the commit.
    if (group.applied > ledger.applied) yield hint
    return { value: group.replies, applied: group.applied }
  }

  async function runGroup(requests: readonly Request[]): Promise<readonly Reply[]> {
    const done = await inLedger(client, (ledger) => inGroup(ledger, requests))
    health.succeeded()
    applied = done.applied
    syncs += 1
    return done.value
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
    figures: () => ({ records: applied, bytes: 0, syncs, failed: health.isFailed(), lost: false }),
  }
}

/** An error of what a step did, and not of the way to the server, or of who may write there. */
const isOfStep = (error: unknown): boolean =>
  error instanceof SvcError
    ? !refusals.has(error.code)
    : /^2[23]/.test(String((error as { code?: unknown }).code))
