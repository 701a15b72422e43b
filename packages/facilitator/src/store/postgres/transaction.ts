/** Transactions of the ledger. Each takes the ledger's one row first, so that they happen one after the other. */
import { SvcError } from '@svc-zerc20/protocol'
import { type Query, type Row, type Step, sql } from '../sql.js'
import { type Client, runStep, type Send } from './client.js'

const plain = (text: string): Query => ({ text, values: [] })

/** Whatever `work` sends is one transaction: all of it happens, or nothing. `opening` travels with its beginning. */
export const inTransaction = <T>(
  client: Pick<Client, 'write'>,
  opening: Query,
  work: (send: Send, opened: readonly Row[]) => Promise<T>,
): Promise<T> =>
  client.write(async (send) => {
    try {
      const [, opened] = await Promise.all([send(plain('BEGIN READ WRITE')), send(opening)])
      return await work(send, opened)
    } catch (error) {
      // After any other error the connection ends, and the transaction with it.
      if (error instanceof SvcError) await send(plain('ROLLBACK'))
      throw error
    }
  })

export const commit: Query = plain('COMMIT')

/** The ledger's row, and the term of the daemon that may write it. */
const locked = sql`
  SELECT ledger.id, applied, state, lease.term FROM ledger LEFT JOIN lease ON lease.name = 'ledger' FOR UPDATE OF ledger`

/** An outcome, and the number of the newest event behind it. */
type Done<T> = { readonly value: T; readonly applied: number }
export type InLedger<T> = Step<Done<T>>

/**
 * Runs a step in a transaction of the ledger. Writing the number of the newest event is its last change: a transaction that
 * lost its connection cannot make it, and must not be taken for committed.
 */
export const inLedger = <T>(
  client: Pick<Client, 'write'>,
  work: (ledger: Row) => InLedger<T>,
): Promise<Done<T>> =>
  inTransaction(client, locked, async (send, [ledger]) => {
    if (!ledger) throw new SvcError('invariant', 'the database has no ledger')
    const sent: Promise<unknown>[] = []
    const done = await runStep(work(ledger), send, sent)
    await Promise.all([...sent, send(sql`UPDATE ledger SET applied = ${done.applied}`), send(commit)])
    return done
  })
