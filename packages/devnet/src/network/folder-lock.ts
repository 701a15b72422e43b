import { join } from 'node:path'
import { lockJournal } from '@svc-zerc20/facilitator'
import { SvcError } from '@svc-zerc20/protocol'

/**
 * Allows one network per folder, with the lock that allows one daemon per journal. Take the lock before touching
 * anything in the folder: journal, configuration and databases belong to its holder.
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
