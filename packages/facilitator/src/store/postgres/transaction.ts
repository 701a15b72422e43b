/** Transactions of the ledger. Each takes the ledger's one row first, so that they happen one after the other. */
import { SvcError } from '@svc-zerc20/protocol'
import { assertMayWrite } from '../migrate.js'
import { assertHere } from '../move/moved.js'
import { type Query, type Row, type Step, serverNow, sql } from '../sql.js'
import { type Client, runStep, type Send } from './client.js'

const plain = (text: string): Query => ({ text, values: [] })

const begin = plain('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE')

/** Whatever `work` sends is one transaction: all of it happens, or nothing. `opening` travels with its beginning. */
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

const locked = sql`SELECT applied, writers_from, state FROM ledger FOR UPDATE`

const printOf = (seq: Query) => sql`(SELECT md5(record) FROM event WHERE seq = ${seq})`

/**
 * The terms of all leases, the time, and what tells the event that is `known` here, and the newest one, from any other. They
 * are read behind the lock, by a statement of their own: whoever waited for the lock would see them as they were before.
 */
const leased = (known: number) => sql`
  SELECT (SELECT CAST(coalesce(json_object_agg(name, term), '{}') AS TEXT) FROM lease) AS terms,
    ${serverNow} AS now_ms,
    ${printOf(sql`CAST(${known} AS BIGINT)`)} AS known_print, ${printOf(sql`(SELECT applied FROM ledger)`)} AS newest_print,
    current_setting('default_transaction_read_only') AS is_read_only`

/** An outcome, and the number of the newest event behind it. */
type Done<T> = { readonly value: T; readonly applied: number }
export type InLedger<T> = Step<Done<T>>

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
    if (!ledger || !lease) throw new SvcError('invariant', 'the database has no ledger')
    assertMayWrite(ledger.writers_from, client.migrations)
    assertHere(ledger.state, 'storage.url')
    // A pooler between us may have dropped the setting, on which a broken connection depends.
    if (lease.is_read_only !== 'on') {
      throw new SvcError(
        'config_invalid',
        'storage.url: its sessions are not read-only by default; is it a pooler?',
      )
    }
    const sent: Promise<unknown>[] = []
    const done = await runStep(work({ ...ledger, ...lease }, asked), send, sent).catch(async (error) => {
      // The change that failed says more than the question behind it.
      await Promise.all(sent)
      throw error
    })
    await Promise.all([...sent, send(sql`UPDATE ledger SET applied = ${done.applied}`), send(commit)])
    return done
  })
