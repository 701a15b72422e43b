/**
 * The lease of the daemon that writes the ledger. A new holder raises the term, and every transaction of the ledger checks
 * it: a daemon that was stopped for a while and wakes up finds another term there and can write nothing any more.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { first, type Row, type Step, sql } from '../sql.js'
import type { Client } from './client.js'
import { type InLedger, inLedger } from './transaction.js'

/** How long a lease runs, and how often it is renewed. The clock is the server's. */
const leaseMs = 8_000
const renewMs = 2_000
/** How long a start waits for the lease of a daemon that may have died. */
const patienceMs = leaseMs + 2 * renewMs

const now = sql`CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`

export type Lease = {
  /** Throws `SvcError('journal_locked')` once another daemon has taken over. Renews the lease in the same transaction. */
  renew(ledger: Row): Step<void>
  /** A transaction that began then, by `performance.now()`, has renewed it. */
  renewed(since: number): void
  /** Throws when the lease may have run out: another daemon may have written since. */
  assertRuns(): void
  release(): Promise<void>
}

/** Throws `SvcError('journal_locked')` while another daemon writes this ledger. */
export async function takeLease(
  client: Client,
  holder: string,
  on: { readonly renewed: () => void; readonly failed: (error: unknown) => void },
): Promise<Lease> {
  const { term, since: takenAt } = await taken(client, holder)
  let runsUntil = takenAt + leaseMs
  let lost: SvcError | undefined
  const lose = (): SvcError => {
    if (!lost) {
      lost = new SvcError(
        'journal_locked',
        'storage.url: another daemon has taken this ledger over. Nothing more is accepted here',
      )
    }
    return lost
  }
  function* renew(ledger: Row): Step<void> {
    if (lost || ledger.term !== term) throw lose()
    yield sql`UPDATE lease SET until_ms = ${now} + ${leaseMs} WHERE name = 'ledger'`
  }
  const renewed = (since: number) => {
    runsUntil = since + leaseMs
  }
  let pending: Promise<void> | undefined
  const renewAlone = async () => {
    const since = performance.now()
    try {
      await inLedger(client, function* (ledger) {
        yield* renew(ledger)
        return { value: undefined, applied: ledger.applied }
      })
      renewed(since)
      on.renewed()
    } catch (error) {
      on.failed(error)
    }
    pending = undefined
  }
  const renewing = setInterval(() => {
    if (!lost) pending ??= renewAlone()
  }, renewMs).unref()
  return {
    renew,
    renewed,
    assertRuns() {
      if (!lost && performance.now() <= runsUntil) return
      throw new SvcError('journal_failed', 'the lease of the ledger has run out', { cause: lost })
    },
    async release() {
      clearInterval(renewing)
      await pending
      await inLedger(client, (ledger) => end(ledger, term)).catch(() => undefined)
    },
  }
}

/** The term, and when the transaction began that took the lease. */
async function taken(
  client: Client,
  holder: string,
): Promise<{ readonly term: number; readonly since: number }> {
  const until = performance.now() + patienceMs
  for (;;) {
    const since = performance.now()
    const { term, other } = (await inLedger(client, (ledger) => take(ledger, holder))).value
    if (term !== undefined) return { term, since }
    if (since > until) {
      throw new SvcError(
        'journal_locked',
        `storage.url: ${other} writes this ledger; stop it, or give this daemon a database of its own`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, renewMs / 4))
  }
}

function* take(
  { applied }: Row,
  holder: string,
): InLedger<{ readonly term?: number; readonly other?: string }> {
  const row = yield* first(sql`
    INSERT INTO lease (name, holder, term, until_ms) VALUES ('ledger', ${holder}, 1, ${now} + ${leaseMs})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = lease.term + 1, until_ms = excluded.until_ms
      WHERE lease.until_ms < ${now}
    RETURNING term`)
  if (row) return { value: { term: row.term }, applied }
  const other = yield* first(sql`SELECT holder FROM lease WHERE name = 'ledger'`)
  return { value: { other: other?.holder }, applied }
}

function* end({ applied }: Row, term: number): InLedger<void> {
  yield sql`UPDATE lease SET until_ms = 0 WHERE name = 'ledger' AND term = ${term}`
  return { value: undefined, applied }
}
