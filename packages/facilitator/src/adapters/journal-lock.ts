/**
 * One daemon per journal. On Linux the kernel keeps the lock: a name in the abstract socket namespace, bound to
 * the file's identity and gone with the process, however it ends. Elsewhere, and for whoever looks at the
 * folder, a lock file names the process that holds it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'

export type JournalLock = {
  /** The file itself, without symbolic links: two names of one journal meet at one lock. */
  readonly path: string
  release(): Promise<void>
}

const pathOf = (name: string): string =>
  existsSync(name) ? realpathSync(name) : join(realpathSync(dirname(name)), basename(name))

/** Throws `SvcError('journal_locked')` when a daemon has the journal; leaves no trace. */
export async function assertUnlocked(name: string): Promise<void> {
  const path = pathOf(name)
  const holder = process.platform === 'linux' ? undefined : holderOf(`${path}.lock`)
  if (holder !== undefined) throw locked(path, holder)
  if (process.platform !== 'linux') return
  const held = await bindName(path)
  await new Promise<void>((resolve) => held.close(() => resolve()))
}

/** Throws `SvcError('journal_locked')`, or `SvcError('journal_unusable')` when the folder is not there. */
export async function lockJournal(name: string): Promise<JournalLock> {
  try {
    return await lock(pathOf(name))
  } catch (error) {
    throw unusable(error)
  }
}

/** What the file system refused, in words of the configuration. */
export const unusable = (error: unknown): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError('journal_unusable', `settlement.journal: ${(error as Error).message}`, { cause: error })

async function lock(path: string): Promise<JournalLock> {
  const held = process.platform === 'linux' ? await bindName(path) : undefined
  const lockFile = `${path}.lock`
  const letGo = () => new Promise<void>((resolve) => (held ? held.close(() => resolve()) : resolve()))
  try {
    const holder = held ? undefined : holderOf(lockFile)
    if (holder !== undefined) throw locked(path, holder)
    writeFileSync(lockFile, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    await letGo()
    throw error
  }
  return {
    path,
    async release() {
      rmSync(lockFile, { force: true })
      await letGo()
    },
  }
}

function bindName(path: string): Promise<Server> {
  const name = `\0svc-zerc20-journal-${createHash('sha256').update(path).digest('hex')}`
  return new Promise((resolve, reject) => {
    // The name is all that matters: whoever connects to it is sent away.
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => reject(locked(path, holderOf(`${path}.lock`))))
    server.listen(name, () => resolve(server.unref()))
  })
}

/** The process that holds a lock file, if it lives. A lock that a crash left behind holds nothing. */
function holderOf(lockFile: string): number | undefined {
  if (!existsSync(lockFile)) return undefined
  const pid = Number(readFileSync(lockFile, 'utf8'))
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    // Not ours to signal means that it lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined
  }
}

const locked = (path: string, pid: number | undefined) =>
  new SvcError(
    'journal_locked',
    `settlement.journal: ${path} is in use by another daemon${pid === undefined ? '' : ` (process ${pid})`}`,
  )
