/** The store on a PostgreSQL server, whose own journal makes it durable. */
import { hostname } from 'node:os'
import { SvcError } from '@svc-zerc20/protocol'
import { asOneStep, type GroupSettings, type Reply, type Request } from '../group.js'
import { old } from '../journal/mark.js'
import { createRows } from '../rows/rows.js'
import { type Row, sql } from '../sql.js'
import { closable, type Store, type StoreOptions } from '../store.js'
import { createWaiting } from '../waiting.js'
import { type Client, connect, type Database, runStep } from './client.js'
import { type Lease, takeLease } from './lease.js'
import { prepareSchema } from './prepare-schema.js'
import { type InLedger, inLedger } from './transaction.js'

export type PostgresOptions = Pick<StoreOptions, 'clock' | 'onFailure' | 'waitMs' | 'isAccepted'> & {
  readonly database: Database
  readonly settings: GroupSettings
}

/** Steps of one transaction, which nobody else can write beside. */
const groupMax = 200
/** How often the server is looked for while nothing is written. */
const lookMs = 2_000

/** Throws `SvcError('journal_locked')` while another daemon writes there, and `journal_newer` for another schema. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, onFailure, waitMs, isAccepted = false } = options
  const client = connect(options.database)
  try {
    await prepareSchema(client)
    const lease = await takeLease(client, `${hostname()} (process ${process.pid})`, onFailure)
    const [ledger] = await client.read((send) => send(sql`SELECT id, applied, state FROM ledger`))
    const writer = createWriter(client, lease, options, ledger?.applied)
    const waiting = createWaiting(waitMs)
    const asked: Request[] = []
    let working: Promise<void> | undefined
    const work = async () => {
      while (asked.length > 0) waiting.settle(await writer.run(asked.splice(0, groupMax)))
      working = undefined
    }
    const looking = setInterval(() => {
      if (!working) void client.read((send) => send(sql`SELECT 1`)).then(writer.reached, writer.missed)
    }, lookMs).unref()
    return closable({
      id: ledger?.id,
      report: { lines: ledger?.applied, bytes: 0, tornBytes: 0 },
      isCopy: ledger?.state === 'copy' || isAccepted,
      change(name, ...args) {
        asked.push({ name, args, nowMs: clock.now() })
        const reply = waiting.add() as Promise<never>
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
        clearInterval(looking)
        await working
        waiting.close()
        await lease.release()
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

function createWriter(
  client: Client,
  lease: Lease,
  { settings, onFailure }: Pick<PostgresOptions, 'settings' | 'onFailure'>,
  newest: number,
) {
  let applied = newest
  let syncs = 0
  let failed = false

  function* inGroup(ledger: Row, requests: readonly Request[]): InLedger<readonly Reply[]> {
    lease.assertHeld(ledger)
    // A standby that took over may lack what we were told is durable.
    if (ledger.applied < applied)
      throw old(`the database ends at event ${ledger.applied}, and there were ${applied}`, 'storage.url')
    const group = yield* asOneStep(requests, { applied: ledger.applied, settings, rows: createRows() })
    return { value: group.replies, applied: group.applied }
  }

  async function runGroup(requests: readonly Request[]): Promise<readonly Reply[]> {
    const done = await inLedger(client, (ledger) => inGroup(ledger, requests))
    applied = done.applied
    syncs += 1
    reached()
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
      failed = true
      onFailure(error)
      return requests.map(() => ({ error: unwritable(error) }))
    }
  }

  function reached(): void {
    failed = false
  }

  return {
    run,
    reached,
    missed(error: unknown): void {
      if (!failed) onFailure(error)
      failed = true
    },
    figures: () => ({ records: applied, bytes: 0, syncs, failed, lost: false }),
  }
}

/** An error of what a step did, and not of the way to the server, or of who may write there. */
const isOfStep = (error: unknown): boolean =>
  error instanceof SvcError
    ? error.code !== 'journal_locked' && error.code !== 'journal_old'
    : /^2[23]/.test(String((error as { code?: unknown }).code))
