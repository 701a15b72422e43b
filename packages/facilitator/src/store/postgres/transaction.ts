/** Transactions of the ledger. Each takes the ledger's one row first, so that they happen one after the other. */
import { createHash } from 'node:crypto'
import { SvcError } from '@svc-zerc20/protocol'
import type { Fence } from '../lease.js'
import { assertMayWrite, versionBehind } from '../migrate.js'
import { assertHere } from '../move/moved.js'
import { doubtSetting, pauseSetting } from '../rows/rows.js'
import { allOf, type Query, type Row, type Step, sql } from '../sql.js'
import { type Client, runStep, type Send } from './client.js'
import type { LedgerPlace } from './memory.js'

/** Tells an event from another one with its number. We compute it as the server does. */
export const fingerprint = {
  /** Of an event as the server keeps it. */
  of: (record: string) => createHash('md5').update(record).digest('hex'),
  /** Of the event with this number, by the server. Null when the event is forgotten. */
  atSeq: (seq: Query) => sql`(SELECT md5(record) FROM event WHERE seq = ${seq})`,
}

const plain = (text: string): Query => ({ text, values: [] })

const begin = plain('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE')

/** Sends the queries of `work` as one transaction: all of them happen, or none. `opening` travels with its beginning. */
export const inTransaction = <T>(
  client: Pick<Client, 'write'>,
  opening: readonly Query[],
  work: (send: Send, opened: readonly (readonly Row[])[]) => Promise<T>,
): Promise<T> =>
  client.write(async (send) => {
    try {
      const [, ...opened] = await Promise.all([begin, ...opening].map(send))
      return await work(send, opened)
    } catch (error) {
      // After any other error the connection ends, and the transaction with it.
      if (error instanceof SvcError) await send(plain('ROLLBACK'))
      throw error
    }
  })

export const commit: Query = plain('COMMIT')

const locked = sql`SELECT applied, forgotten, fees, writers_from, state FROM ledger FOR UPDATE`

/** A pooler between us may have dropped the setting, on which a broken connection depends. */
const isReadOnly = sql`current_setting('default_transaction_read_only') = 'on'`

/**
 * The terms of all leases, the time of doubt, the pause of issuance, and the prints of the event that is `known` here and of
 * the newest one. They are read behind the lock, by their own statement: a statement that waited for the lock would see
 * their earlier values.
 */
const leased = (known: number) => sql`
  SELECT (SELECT CAST(coalesce(json_object_agg(name, term), '{}') AS TEXT) FROM lease) AS terms,
    (SELECT record FROM setting WHERE name = ${doubtSetting}) AS doubt,
    (SELECT record FROM setting WHERE name = ${pauseSetting}) AS pause,
    ${fingerprint.atSeq(sql`CAST(${known} AS BIGINT)`)} AS known_print,
    ${fingerprint.atSeq(sql`(SELECT applied FROM ledger)`)} AS newest_print,
    ${isReadOnly} AS is_read_only`

export const noLedger = (): SvcError => new SvcError('invariant', 'the database has no ledger')

/** An outcome, and the number of the newest event behind it. */
type Done<T> = { readonly value: T; readonly applied: number }
export type InLedger<T> = Step<Done<T>>

/** Runs a step, and ends the transaction behind it. */
async function finish<T>(step: InLedger<T>, send: Send): Promise<Done<T>> {
  const sent: Promise<unknown>[] = []
  const done = await runStep(step, send, sent).catch(async (error) => {
    // The change that failed says more than the question behind it.
    await Promise.all(sent)
    throw error
  })
  await Promise.all([...sent, send(sql`UPDATE ledger SET applied = ${done.applied}`), send(commit)])
  return done
}

/**
 * Runs a step in a transaction of the ledger. Writing the number of the newest event is its last change: a transaction that
 * lost its connection cannot make it, and must not be taken for committed.
 */
export const inLedger = <T>(
  client: Pick<Client, 'write' | 'migrations'>,
  /** The number of the newest event that we were told of. */
  known: number,
  work: (ledger: Row, asked: readonly (readonly Row[])[]) => InLedger<T>,
  /** Questions whose answers the work needs. They travel with the beginning. */
  questions: readonly Query[] = [],
): Promise<Done<T>> =>
  inTransaction(client, [locked, leased(known), ...questions], async (send, opened) => {
    const [ledger, lease] = opened.map(([row]) => row)
    const asked = opened.slice(2)
    if (!ledger || !lease) throw noLedger()
    assertMayWrite(ledger.writers_from, client.migrations)
    assertHere(ledger.state, 'storage.url')
    if (!lease.is_read_only) {
      throw new SvcError(
        'config_invalid',
        'storage.url: its sessions are not read-only by default; is it a pooler?',
      )
    }
    return finish(work({ ...ledger, ...lease }, asked), send)
  })

/** The ledger as this daemon left it, with the print of its newest event. */
type Remembered = LedgerPlace & { readonly print: string }

/** Fails, and the transaction with it, unless the ledger is as we left it and these leases have these terms. */
function unchanged(
  { applied, forgotten, print }: Remembered,
  version: number,
  fences: readonly Fence[],
): Query {
  const holds = allOf([
    sql`applied = ${applied} AND forgotten = ${forgotten} AND state = 'live' AND writers_from <= ${version}`,
    isReadOnly,
    sql`${fingerprint.atSeq(sql`applied`)} = ${print}`,
    ...fences.map(({ name, term }) => sql`(SELECT term FROM lease WHERE name = ${name}) = ${term}`),
  ])
  return sql`SELECT 1 / CASE WHEN ${holds} THEN 1 ELSE 0 END FROM ledger`
}
const divisionByZero = '22012'

/**
 * Runs a step that needs to read nothing of what may have changed since we wrote last, in a transaction of the ledger: all
 * of it is one message, and one answer. `stale` when somebody else wrote since, or has taken over a lease: then nothing
 * happened.
 */
export const inRememberedLedger = <T>(
  client: Pick<Client, 'write' | 'migrations'>,
  remembered: Remembered,
  fences: readonly Fence[],
  work: () => InLedger<T>,
): Promise<Done<T> | 'stale'> =>
  client.write(async (send) => {
    const guard = unchanged(remembered, versionBehind(client.migrations), fences)
    const opened = Promise.all([begin, locked].map(send))
    const guarded = send(guard)
    const finished = finish(work(), send)
    try {
      const [done] = await Promise.all([finished, opened, guarded])
      return done
    } catch (error) {
      // Nothing more is sent behind it.
      await finished.catch(() => undefined)
      const isStale = await guarded.then(
        () => false,
        ({ code }) => code === divisionByZero,
      )
      if (!isStale && !(error instanceof SvcError)) throw error
      await send(plain('ROLLBACK'))
      if (isStale) return 'stale'
      throw error
    }
  })
