/** Transactions of the ledger. Each takes the ledger's one row first, so that they happen one after the other. */
import { createHash } from 'node:crypto'
import { SvcError } from '@svc-zerc20/protocol'
import { assertMayWrite } from '../migrate.js'
import { assertHere } from '../move/moved.js'
import { doubtSetting } from '../rows/rows.js'
import { type Query, type Row, type Step, sql } from '../sql.js'
import { type Client, runStep, type Send } from './client.js'

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

const columns = sql`applied, forgotten, writers_from, state`
const locked = sql`SELECT ${columns} FROM ledger FOR UPDATE`

/** The terms of all leases, the time of doubt, and the prints of the event that is `known` here and of the newest one. */
const facts = (known: number) => sql`
  (SELECT CAST(coalesce(json_object_agg(name, term), '{}') AS TEXT) FROM lease) AS terms,
  (SELECT record FROM setting WHERE name = ${doubtSetting}) AS doubt,
  ${fingerprint.atSeq(sql`CAST(${known} AS BIGINT)`)} AS known_print,
  ${fingerprint.atSeq(sql`(SELECT applied FROM ledger)`)} AS newest_print,
  -- A pooler between us may have dropped the setting, on which a broken connection depends.
  current_setting('default_transaction_read_only') = 'on' AS is_read_only`

/** The ledger as it stands now, behind no lock. */
export const ledgerNow = (known: number): Query => sql`SELECT ${columns}, ${facts(known)} FROM ledger`

export const noLedger = (): SvcError => new SvcError('invariant', 'the database has no ledger')

/** An outcome, and the number of the newest event behind it. */
export type Done<T> = { readonly value: T; readonly applied: number }

/**
 * Runs a step in a transaction of the ledger, which is two messages for a step that asks nothing. Writing the number of the
 * newest event is its last change: a transaction that lost its connection cannot make it, and must not be taken for committed.
 */
export const inLedger = <T>(
  client: Pick<Client, 'write' | 'migrations'>,
  /** The number of the newest event that we were told of. */
  known: number,
  work: (ledger: Row, asked: readonly (readonly Row[])[]) => Step<Done<T>>,
  /** Questions whose answers the work needs. They travel with the beginning. */
  questions: readonly Query[] = [],
): Promise<Done<T>> => {
  // The facts have a statement of their own behind the lock: one that waited for the lock would see their earlier values.
  const opening = [locked, sql`SELECT ${facts(known)}`, ...questions]
  return inTransaction(client, opening, async (send, [first, second, ...asked]) => {
    const [[ledger] = [], [found] = []] = [first, second]
    if (!ledger || !found) throw noLedger()
    assertMayWrite(ledger.writers_from, client.migrations)
    assertHere(ledger.state, 'storage.url')
    if (!found.is_read_only) {
      throw new SvcError(
        'config_invalid',
        'storage.url: its sessions are not read-only by default; is it a pooler?',
      )
    }
    const sent: Promise<unknown>[] = []
    const done = await runStep(work({ ...ledger, ...found }, asked), send, sent).catch(async (error) => {
      // The change that failed says more than the question behind it.
      await Promise.all(sent)
      throw error
    })
    await Promise.all([...sent, send(sql`UPDATE ledger SET applied = ${done.applied}`), send(commit)])
    return done
  })
}
