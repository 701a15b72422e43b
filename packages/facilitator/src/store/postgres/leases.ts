/** Leases as rows. They are taken, renewed and compared by the clock of the server alone. */
import { hostname } from 'node:os'
import { limits } from '../../config/limits.js'
import { systemRandom } from '../../system.js'
import type { Lease, Leases } from '../lease.js'
import { first, list, type Step, serverNow, sql } from '../sql.js'

/** Also tells two daemons of one machine apart, and one from itself after a restart. */
const holderName = (): string =>
  `${hostname()} (process ${process.pid}, ${Buffer.from(systemRandom.bytes(4)).toString('hex')})`

export type SharedLeases = Leases & {
  close(): Promise<void>
}

type RunStep = <T>(step: () => Step<T>) => Promise<T>

export function createLeases({
  holder = holderName(),
  look,
  runAside,
  runLocked,
  onFailure,
  every = everyInterval,
}: {
  readonly holder?: string
  /** Notices that the ledger went back behind what this daemon was told. */
  readonly look: () => Promise<void>
  /** Runs a step that waits for nobody who holds the lock of the ledger, or one behind that lock. */
  readonly runAside: RunStep
  readonly runLocked: RunStep
  readonly onFailure: (err: unknown) => void
  /** Repeats something. Returns a function that stops it. */
  readonly every?: (ms: number, act: () => void) => () => void
}): SharedLeases {
  /** Leases that were taken and are neither lost nor given back. Only these are renewed; others run out. */
  const held = new Map<string, { readonly term: number; readonly losing: AbortController }>()

  async function renew(): Promise<void> {
    const asked = [...held]
    await look()
    const kept = await runAside(() =>
      renewed(
        holder,
        asked.map(([name]) => name),
      ),
    )
    for (const [name, lease] of asked) {
      if (kept.has(name) || held.get(name) !== lease) continue
      held.delete(name)
      lease.losing.abort()
    }
  }

  let renewing: Promise<void> | undefined
  const stop = every(limits.leaseRenewMs, () => {
    renewing ??= renew()
      .catch(onFailure)
      .finally(() => {
        renewing = undefined
      })
  })

  return {
    holder,
    async take(name) {
      await look()
      const term = (await runAside(() => isFree(name, holder)))
        ? await runLocked(() => taken(name, holder))
        : undefined
      if (term === undefined) return undefined
      const losing = new AbortController()
      held.set(name, { term, losing })
      const lease: Lease = {
        fence: { name, term },
        lost: losing.signal,
        async release() {
          if (held.get(name)?.term === term) held.delete(name)
          await runAside(() => released(name, term))
        },
      }
      return lease
    },
    async close() {
      stop()
      await renewing
      await runAside(() => left(holder)).catch(onFailure)
    },
  }
}

function everyInterval(ms: number, act: () => void): () => void {
  const timer = setInterval(act, ms).unref()
  return () => clearInterval(timer)
}

/** Tells that this daemon lives, and renews these leases. Gives the names of those that it still holds. */
function* renewed(holder: string, names: readonly string[]): Step<ReadonlySet<string>> {
  yield* noteAlive(holder)
  const rows = yield sql`
    UPDATE lease SET until_ms = ${serverNow} + ${limits.leaseMs}
    WHERE holder = ${holder} AND name IN ${list(['', ...names])} RETURNING name`
  return new Set(rows.map(({ name }): string => name))
}

/** Asked before the lock is waited for, which a holder that is frozen in a transaction may have. */
function* isFree(name: string, holder: string): Step<boolean> {
  const held = yield* first(sql`
    SELECT name FROM lease WHERE name = ${name} AND until_ms >= ${serverNow} AND holder <> ${holder}`)
  return held === undefined
}

/**
 * A new holder has a new term, and so has one that never heard that it holds the lease. It is also the time, so that a
 * server that lost the last terms gives none of them again. It is written behind the lock of the ledger: no step of the holder
 * before is under way then, and each later one finds the new term.
 */
function* taken(name: string, holder: string): Step<number | undefined> {
  const row = yield* first(sql`
    INSERT INTO lease (name, holder, term, until_ms) VALUES (${name}, ${holder}, ${serverNow}, ${serverNow} + ${limits.leaseMs})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms,
      term = CASE WHEN lease.term < excluded.term THEN excluded.term ELSE lease.term + 1 END
      WHERE lease.until_ms < ${serverNow} OR lease.holder = excluded.holder
    RETURNING term`)
  return row?.term
}

/** The row stays: its term must never be given again. */
function* released(name: string, term: number): Step<void> {
  yield sql`UPDATE lease SET until_ms = 0, holder = '' WHERE name = ${name} AND term = ${term}`
}

function* noteAlive(holder: string): Step<void> {
  yield sql`
    INSERT INTO daemon (holder, alive_ms) VALUES (${holder}, ${serverNow})
    ON CONFLICT (holder) DO UPDATE SET alive_ms = excluded.alive_ms`
  yield sql`DELETE FROM daemon WHERE alive_ms < ${serverNow} - ${limits.daemonForgottenMs}`
}

/** A daemon that ends in order leaves nothing that others would have to wait for. */
function* left(holder: string): Step<void> {
  yield sql`DELETE FROM daemon WHERE holder = ${holder}`
  yield sql`UPDATE lease SET until_ms = 0, holder = '' WHERE holder = ${holder}`
}
