/**
 * One daemon per journal, held by two locks. On Linux the kernel keeps a name (`lock-name.ts`). Containers that share a
 * volume do not see that name, so the lock file beside the journal tells them (`lock-file.ts`). Elsewhere there is the
 * lock file alone, which names the process that holds it. A holder that finds another's lock file lets go of the journal.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { holderElsewhere, holderOf, type LockFile, writeLockFile } from './lock-file.js'
import { type BoundName, bindName } from './lock-name.js'

export type JournalLock = {
  /** The file itself, without symbolic links: two names of one journal meet at one lock. */
  readonly path: string
  /** Throws `SvcError('journal_locked')` once another daemon has put its lock file in the place of ours. */
  assertHeld(): void
  release(): Promise<void>
}

/** Where the operator named the file, for errors. */
const journalSetting = 'settlement.journal'

/** The file itself, without symbolic links; a file that is still to be made has its folder. */
export function pathOf(name: string, setting = journalSetting): string {
  if (existsSync(name)) return realpathSync(name)
  if (lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SvcError(
      'journal_unusable',
      `${setting}: ${name} is a link to ${readlinkSync(name)}, which is not there. Mount the disk; for a new one make that file first, empty`,
    )
  }
  return join(realpathSync(dirname(name)), basename(name))
}

/** Throws as `lockJournal` does; leaves no trace. */
export async function assertUnlocked(name: string): Promise<void> {
  try {
    await look(pathOf(name))
  } catch (error) {
    throw unusable(error)
  }
}

/**
 * Throws `SvcError('journal_locked')`, or `SvcError('journal_unusable')` when the file system refuses. `onLost` is
 * called once if another daemon takes the lock although it is held.
 */
export async function lockJournal(
  name: string,
  onLost: (error: SvcError) => void = () => undefined,
  setting = journalSetting,
): Promise<JournalLock> {
  try {
    return await lock(pathOf(name, setting), onLost, setting)
  } catch (error) {
    throw unusable(error, setting)
  }
}

/** An error of the file system, as an error of the configuration. */
export const unusable = (error: unknown, setting = journalSetting): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError('journal_unusable', `${setting}: ${(error as Error).message}`, { cause: error })

/** How often a holder touches its lock file. */
const touchMs = 2_000

async function look(path: string): Promise<void> {
  const name = await takeName(path, journalSetting)
  try {
    assertNoHolder(path, name, journalSetting)
  } finally {
    await name?.letGo()
  }
}

async function lock(path: string, onLost: (error: SvcError) => void, setting: string): Promise<JournalLock> {
  const name = await takeName(path, setting)
  let file: LockFile
  try {
    assertNoHolder(path, name, setting)
    file = writeLockFile(path)
  } catch (error) {
    await name?.letGo()
    throw error
  }
  let lost: SvcError | undefined
  const touching = setInterval(() => {
    const other = file.touch()
    if (!other) return
    clearInterval(touching)
    lost = locked(path, other.pid, setting)
    onLost(lost)
  }, touchMs).unref()
  return {
    path,
    assertHeld() {
      if (lost) throw lost
    },
    async release() {
      clearInterval(touching)
      try {
        file.remove()
      } finally {
        await name?.letGo()
      }
    },
  }
}

/** Undefined where the kernel keeps no such names. */
async function takeName(path: string, setting: string): Promise<BoundName | undefined> {
  const name = process.platform === 'linux' ? await bindName(path) : undefined
  if (name === 'taken') throw locked(path, holderOf(path), setting)
  return name
}

function assertNoHolder(path: string, name: BoundName | undefined, setting: string): void {
  const holder = name ? holderElsewhere(path) : holderOf(path)
  if (holder !== undefined) throw locked(path, holder, setting)
}

const locked = (path: string, pid: number | undefined, setting: string) =>
  new SvcError(
    'journal_locked',
    `${setting}: ${path} is in use by another daemon${pid ? ` (process ${pid})` : ''}`,
  )
