/** Looks for the records of the files in the index beside them. */
import { existsSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { lockJournal } from '../ledger/journal/lock.js'
import { historySetting } from './file/segments.js'
import { indexFolderOf, openHistoryIndex } from './index/history-index.js'
import { hasTurnOf } from './payment.js'
import { type NumberedRecord, nonceIn, turnsMax } from './record.js'

export type ComparedIndex = {
  /** What is wrong with the index of these records. Told once: an index with one hole has many. */
  problemsOf(records: readonly NumberedRecord[]): Promise<readonly string[]>
  close(): Promise<void>
}

/**
 * Throws `SvcError('journal_locked')` while a daemon uses the history, and `SvcError('history_unusable')` when there is no
 * index or none that can be read.
 */
export async function openComparedIndex(path: string): Promise<ComparedIndex> {
  const folder = indexFolderOf(path)
  const help = `${historySetting}: the index ${folder}`
  if (!existsSync(folder)) {
    throw new SvcError('history_unusable', `${help} is not there; the next start of the daemon makes it`)
  }
  const lock = await lockJournal(path, undefined, historySetting)
  try {
    let damage: unknown
    const index = await openHistoryIndex(folder, undefined, (error) => {
      damage = error
    })
    let isTold = false
    if (damage) {
      await index.close()
      throw new SvcError(
        'history_unusable',
        `${help} is damaged; the next start of the daemon makes it anew`,
        {
          cause: damage,
        },
      )
    }
    return {
      async problemsOf(records) {
        const known = await index.payments(records.map(({ record }) => nonceIn(record)))
        const lacked = records.find(({ seq, record }) => {
          const payment = known.get(nonceIn(record))
          // What came since a crash is added at the next start. Of very many turns of one payment the index keeps the newest.
          if (seq > index.indexedSeq() || (payment && payment.turns.length >= turnsMax)) return false
          return !hasTurnOf(payment, { seq, kind: record.event })
        })
        if (!lacked || isTold) return []
        isTold = true
        return [
          `${help} lacks record ${lacked.seq}; delete that folder, and the next start of the daemon makes it anew`,
        ]
      },
      async close() {
        await index.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}
