/**
 * One daemon per journal. On Linux the kernel keeps the lock: a name in the abstract socket namespace, bound to
 * the file's identity and gone with the process, however it ends. That name ends at a network namespace, so the
 * lock file beside the journal tells containers that share a volume: whoever holds it touches it again and
 * again. Elsewhere the lock file names the process that holds it.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
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
  const elsewhere = holderElsewhere(`${path}.lock`)
  await new Promise<void>((resolve) => held.close(() => resolve()))
  if (elsewhere !== undefined) throw locked(path, elsewhere)
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

/** How often a holder touches its lock file, and how long an untouched one of another namespace is believed. */
const touchMs = 2_000
const believedMs = 10_000

async function lock(path: string): Promise<JournalLock> {
  const held = process.platform === 'linux' ? await bindName(path) : undefined
  const lockFile = `${path}.lock`
  const letGo = () => new Promise<void>((resolve) => (held ? held.close(() => resolve()) : resolve()))
  try {
    const holder = held ? holderElsewhere(lockFile) : holderOf(lockFile)
    if (holder !== undefined) throw locked(path, holder)
    writeFileSync(lockFile, `${process.pid}\n${namespace()}\n`, { mode: 0o600 })
  } catch (error) {
    await letGo()
    throw error
  }
  const touching = setInterval(() => touch(lockFile), touchMs).unref()
  return {
    path,
    async release() {
      clearInterval(touching)
      rmSync(lockFile, { force: true })
      await letGo()
    },
  }
}

/** A lock file that cannot be touched must not end the daemon: inside one namespace the kernel holds the lock. */
function touch(lockFile: string): void {
  try {
    // The file system's own clock, which all who share it read alike.
    const { mtime } = writtenNow(lockFile)
    utimesSync(lockFile, mtime, mtime)
  } catch {
    return
  }
}

function writtenNow(lockFile: string): { readonly mtime: Date } {
  const probe = `${lockFile}.${process.pid}`
  writeFileSync(probe, '')
  try {
    return { mtime: statSync(probe).mtime }
  } finally {
    rmSync(probe, { force: true })
  }
}

/** Where our kernel lock can be seen: another network namespace, or another machine, has another name. */
function namespace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/net')}`
  } catch {
    return ''
  }
}

/** The process of another namespace that touched the lock file a moment ago. */
function holderElsewhere(lockFile: string): number | undefined {
  if (!existsSync(lockFile)) return undefined
  const [pid, where] = readFileSync(lockFile, 'utf8').split('\n')
  if (!where || where === namespace()) return undefined
  const untouchedMs = writtenNow(lockFile).mtime.getTime() - statSync(lockFile).mtimeMs
  return untouchedMs < believedMs ? Number(pid) : undefined
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
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0])
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
