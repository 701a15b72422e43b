/**
 * One daemon per journal. On Linux the kernel keeps the lock: a name in the abstract socket namespace, bound to
 * the identity of the folder and gone with the process, however it ends. That name ends at a network namespace, so
 * the lock file beside the journal tells containers that share a volume: whoever holds it touches it again and
 * again. It carries a token of its owner, who lets go of the journal when it finds another's. Elsewhere the lock
 * file names the process that holds it.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
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
import { systemRandom } from '../../system.js'

export type JournalLock = {
  /** The file itself, without symbolic links: two names of one journal meet at one lock. */
  readonly path: string
  /** Throws `SvcError('journal_locked')` once another daemon has put its lock file in the place of ours. */
  assertHeld(): void
  release(): Promise<void>
}

/** The file itself, without symbolic links; a file that is still to be made has its folder. */
export function pathOf(name: string): string {
  if (existsSync(name)) return realpathSync(name)
  if (lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SvcError(
      'journal_unusable',
      `settlement.journal: ${name} is a link to ${readlinkSync(name)}, which is not there. Mount the disk; for a new journal make that file first, empty`,
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
): Promise<JournalLock> {
  try {
    return await lock(pathOf(name), onLost)
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
const tokenBytes = 16

async function look(path: string): Promise<void> {
  const held = process.platform === 'linux' ? await bindName(path) : undefined
  try {
    assertNoHolder(path, held)
  } finally {
    await letGo(held)
  }
}

async function lock(path: string, onLost: (error: SvcError) => void): Promise<JournalLock> {
  const held = process.platform === 'linux' ? await bindName(path) : undefined
  const lockFile = `${path}.lock`
  const token = Buffer.from(systemRandom.bytes(tokenBytes)).toString('hex')
  try {
    assertNoHolder(path, held)
    writeFileSync(lockFile, `${process.pid}\n${namespace()}\n${token}\n`, { mode: 0o600 })
  } catch (error) {
    await letGo(held)
    throw error
  }
  let lost: SvcError | undefined
  const touching = setInterval(() => {
    const other = touch(lockFile, token)
    if (!other) return
    clearInterval(touching)
    lost = locked(path, other.pid)
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
        if (readLockFile(lockFile)?.token === token) rmSync(lockFile, { force: true })
      } finally {
        await letGo(held)
      }
    },
  }
}

function assertNoHolder(path: string, held: Server | undefined): void {
  const lockFile = `${path}.lock`
  const holder = held ? holderElsewhere(lockFile) : holderOf(lockFile)
  if (holder !== undefined) throw locked(path, holder)
}

const letGo = (held: Server | undefined) =>
  new Promise<void>((resolve) => (held ? held.close(() => resolve()) : resolve()))

/** Undefined when there is none. One of an older release has no token. */
function readLockFile(lockFile: string) {
  if (!existsSync(lockFile)) return undefined
  const [pid, where = '', token = ''] = readFileSync(lockFile, 'utf8').split('\n')
  return { pid: Number(pid), where, token }
}

/**
 * What the lock file says if it is another's. One that cannot be touched must not end the daemon: inside one
 * namespace the kernel holds the lock.
 */
function touch(lockFile: string, token: string): { readonly pid: number } | undefined {
  try {
    const found = readLockFile(lockFile)
    if (found && found.token !== token) return found
    // The file system's own clock, which all who share it read alike.
    const { mtime } = writtenNow(lockFile)
    utimesSync(lockFile, mtime, mtime)
    return undefined
  } catch {
    return undefined
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

/**
 * The process that touched the lock file a moment ago, unless it would have to hold the kernel lock that we hold.
 * Where a namespace has no name nothing tells whether it would, so that a daemon's file is believed.
 */
function holderElsewhere(lockFile: string): number | undefined {
  const found = readLockFile(lockFile)
  if (!found || (found.where === '' && found.token === '')) return undefined
  if (found.where !== '' && found.where === namespace()) return undefined
  const untouchedMs = writtenNow(lockFile).mtime.getTime() - statSync(lockFile).mtimeMs
  return untouchedMs < believedMs ? found.pid : undefined
}

function bindName(path: string): Promise<Server> {
  // Not the path: one volume may be mounted at two.
  const { dev, ino } = statSync(dirname(path), { bigint: true })
  const identity = createHash('sha256')
    .update(`${dev}:${ino}:${basename(path)}`)
    .digest('hex')
  return new Promise((resolve, reject) => {
    // The name is all that matters: whoever connects to it is sent away.
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? locked(path, holderOf(`${path}.lock`)) : error),
    )
    server.listen(`\0svc-zerc20-journal-${identity}`, () => resolve(server.unref()))
  })
}

/** The process that holds a lock file, if it lives. A lock that a crash left behind holds nothing. */
function holderOf(lockFile: string): number | undefined {
  const { pid = 0 } = readLockFile(lockFile) ?? {}
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
    `settlement.journal: ${path} is in use by another daemon${pid ? ` (process ${pid})` : ''}`,
  )
