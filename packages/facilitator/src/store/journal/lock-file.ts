/**
 * The lock file beside a journal. The file names the process that holds the journal, and carries a token of that holder.
 * The holder touches the file again and again, so that containers which share a volume see each other.
 */
import { existsSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { systemRandom } from '../../system.js'

/** How long an untouched file of another network namespace is believed. */
const believedMs = 10_000
const tokenBytes = 16

const lockFileOf = (path: string): string => `${path}.lock`

export type LockFile = {
  /** Touches the file. Returns the process that the file names when the file is not ours any more. */
  touch(): { readonly pid: number } | undefined
  remove(): void
}

/** Writes our lock file, over any file that is there. */
export function writeLockFile(path: string): LockFile {
  const lockFile = lockFileOf(path)
  const token = Buffer.from(systemRandom.bytes(tokenBytes)).toString('hex')
  writeFileSync(lockFile, `${process.pid}\n${namespace()}\n${token}\n`, { mode: 0o600 })
  return {
    touch: () => touch(lockFile, token),
    remove() {
      if (readLockFile(lockFile)?.token === token) rmSync(lockFile, { force: true })
    },
  }
}

/** The process that holds a lock file, if it lives. A lock that a crash left behind holds nothing. */
export function holderOf(path: string): number | undefined {
  const { pid = 0 } = readLockFile(lockFileOf(path)) ?? {}
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    // A process that we may not signal is alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined
  }
}

/**
 * The process of another namespace that touched the lock file a moment ago. A process of our own namespace would hold the
 * kernel's lock, which we hold. Where the namespace has no name, nothing tells the two apart, and the file is believed.
 */
export function holderElsewhere(path: string): number | undefined {
  const lockFile = lockFileOf(path)
  const found = readLockFile(lockFile)
  if (!found || (found.where === '' && found.token === '')) return undefined
  if (found.where !== '' && found.where === namespace()) return undefined
  const untouchedMs = writtenNow(lockFile).mtime.getTime() - statSync(lockFile).mtimeMs
  return untouchedMs < believedMs ? found.pid : undefined
}

/** Undefined when there is no file. The file of an older release has no token. */
function readLockFile(lockFile: string) {
  if (!existsSync(lockFile)) return undefined
  const [pid, where = '', token = ''] = readFileSync(lockFile, 'utf8').split('\n')
  return { pid: Number(pid), where, token }
}

/**
 * Touches the lock file, or returns its content if it is another holder's. A file that cannot be touched must not end the
 * daemon: inside one namespace the kernel holds the lock.
 */
function touch(lockFile: string, token: string): { readonly pid: number } | undefined {
  try {
    const found = readLockFile(lockFile)
    if (found && found.token !== token) return found
    // The file system's own clock: all who share the file system read the same time.
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

/** The name of the namespace in which our kernel lock can be seen; another network namespace or machine has another. */
function namespace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/net')}`
  } catch {
    return ''
  }
}
