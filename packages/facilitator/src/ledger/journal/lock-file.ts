/**
 * The lock file beside a journal. It names the process that holds the journal, and carries a token of that holder, who
 * touches it again and again. Containers that share a volume see each other by it.
 */
import { existsSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { systemRandom } from '../../system.js'

/** How long an untouched file of another network namespace is believed. */
const believedMs = 10_000
const tokenBytes = 16

const lockFileOf = (path: string): string => `${path}.lock`

export type LockFile = {
  /** The process named by the file when it is not ours any more; otherwise the file is touched. */
  touch(): { readonly pid: number } | undefined
  remove(): void
}

/** Takes the place of any file that is there. */
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
    // Not ours to signal means that it lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined
  }
}

/**
 * The process that touched the lock file a moment ago, unless it would have to hold the kernel's lock, which we hold.
 * Where a namespace has no name nothing tells whether it would, so that a daemon's file is believed.
 */
export function holderElsewhere(path: string): number | undefined {
  const lockFile = lockFileOf(path)
  const found = readLockFile(lockFile)
  if (!found || (found.where === '' && found.token === '')) return undefined
  if (found.where !== '' && found.where === namespace()) return undefined
  const untouchedMs = writtenNow(lockFile).mtime.getTime() - statSync(lockFile).mtimeMs
  return untouchedMs < believedMs ? found.pid : undefined
}

/** Undefined when there is none. One of an older release has no token. */
function readLockFile(lockFile: string) {
  if (!existsSync(lockFile)) return undefined
  const [pid, where = '', token = ''] = readFileSync(lockFile, 'utf8').split('\n')
  return { pid: Number(pid), where, token }
}

/**
 * The content of the lock file if it is another's. A file that cannot be touched must not end the daemon: inside one
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
