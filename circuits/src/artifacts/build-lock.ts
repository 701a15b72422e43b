import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const lockName = 'building.lock'
const workPrefix = '.building-'
const pollMs = 250
/** Five minutes: several times what a build takes on a slow machine. */
const waitPollsMax = 1200

/**
 * Waits until no other living process builds in the folder, then holds it. This only saves work: should two processes
 * get in at once all the same, the first to finish wins, see `ensureArtifacts`. So it is no harm to lose patience.
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
    // Without a number for longer than a write takes: its writer was killed in between.
    const isHeld = holder === 0 ? polls === 0 : isAlive(holder)
    if (!isHeld || polls >= waitPollsMax) await rm(file, { force: true })
    else if (polls === 0) onWait()
    await sleep(isHeld ? pollMs : 0)
  }
}

/** A folder of this process's own to build in, on the same file system as the result. */
export async function createWorkFolder(folder: string): Promise<string> {
  // What a killed process left behind.
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
