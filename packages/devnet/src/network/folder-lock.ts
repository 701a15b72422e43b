import { join } from 'node:path'
import { lockJournal } from '@svc-zerc20/facilitator'
import { SvcError } from '@svc-zerc20/protocol'

/**
 * One network per folder, by the lock that keeps one daemon per journal. Nothing in the folder may be touched before:
 * the journal, the configuration and the databases in it belong to whoever holds the lock.
 */
export async function lockFolder(folder: string): Promise<{ release(): Promise<void> }> {
  try {
    return await lockJournal(join(folder, 'network'))
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'journal_locked') throw error
    const [process = ''] = /\(process \d+\)$/.exec(error.message) ?? []
    const message = `${folder} is in use by another local network ${process}`.trimEnd()
    throw new Error(`${message}; stop that one, or choose another folder with --dir`, { cause: error })
  }
}
