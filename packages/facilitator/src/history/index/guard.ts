/**
 * Watches over an index that may be damaged. Whoever meets damage makes it known, and then nothing is read any more until
 * the index was made anew: an answer with holes would be worse than none, and the writer would record again what it does
 * not find.
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { HistoryBooks } from '../books.js'
import { isDamage, isOfLevel } from './level.js'

/** `onDamage` is called once for each time that damage is found. */
export function createGuard(onDamage: (error: SvcError) => void) {
  let damage: SvcError | undefined
  let isFilling = false

  /** The error as the caller is told. */
  function noticed(error: unknown): unknown {
    if (!isDamage(error)) {
      if (!isOfLevel(error)) return error
      return new SvcError('journal_failed', 'the index of the payment history cannot be used', {
        cause: error,
      })
    }
    if (!damage) {
      damage = new SvcError('history_corrupt', 'the index of the payment history is damaged', {
        cause: error,
      })
      isFilling = true
      onDamage(damage)
    }
    return damage
  }

  async function use<T>(step: () => Promise<T>): Promise<T> {
    if (damage) throw damage
    try {
      return await step()
    } catch (error) {
      throw noticed(error)
    }
  }

  /** A question of a participant. */
  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      if (isFilling) throw damage ?? new SvcError('history_corrupt', 'the index is being made anew')
      return await use(question)
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'history_corrupt') throw error
      // For its caller the storage is out of order for now, as when the disk refuses.
      throw new SvcError('journal_failed', 'the index of the payment history is made anew', { cause: error })
    }
  }

  return {
    damage: () => damage,
    /** Damage was found, and the index has not been filled again since. */
    isFilling: () => isFilling,
    use,
    /** The damaged database is gone, and an empty one is there. Its reader and its writer may go on. */
    emptied(): void {
      damage = undefined
    },
    /** Everything is in the index again. */
    filled(): void {
      isFilling = false
    },
    books: (books: HistoryBooks): HistoryBooks => ({
      find: (nonce) => ask(() => books.find(nonce)),
      page: (query) => ask(() => books.page(query)),
      totals: (scope, period) => ask(() => books.totals(scope, period)),
      async *all(filter) {
        const walk = books.all(filter)[Symbol.asyncIterator]()
        try {
          for (;;) {
            const { done, value } = await ask(() => walk.next())
            if (done) return
            yield value
          }
        } finally {
          await walk.return?.()
        }
      },
    }),
  }
}
