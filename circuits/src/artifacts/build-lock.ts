import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const lockName = 'building.lock'
const workPrefix = '.building-'
const pollMs = 250
/** Five minutes: several times what a build takes on a slow machine. */
const waitPollsMax = 1200

/**
 * Waits until no other running process builds in the folder, then takes the lock. The lock only saves work: if two
 * processes build at once anyway, the first to finish wins, see `ensureArtifacts`. So giving up the wait does no harm.
 */
export async function lockFolder(folder: string, onWait: () => void): Promise<() => Promise<void>> {
  const file = join(folder, lockName)
  for (let polls = 0; ; polls++) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' })
      return () => rm(file, { force: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    // A lock file that still has no process id at the next poll: its writer was killed before it wrote one.
    const isHeld = holder === 0 ? polls === 0 : isAlive(holder)
    if (!isHeld || polls >= waitPollsMax) await rm(file, { force: true })
    else if (polls === 0) onWait()
    await sleep(isHeld ? pollMs : 0)
  }
}

/** A private folder to build in, on the same file system as the result. */
export async function createWorkFolder(folder: string): Promise<string> {
  // Removes folders that killed processes left behind.
  for (const name of await readdir(folder)) {
    if (name.startsWith(workPrefix) && !isAlive(Number(name.slice(workPrefix.length)))) {
      await rm(join(folder, name), { recursive: true, force: true })
    }
  }
  const work = join(folder, `${workPrefix}${process.pid}`)
  await rm(work, { recursive: true, force: true })
  await mkdir(work)
  return work
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
