/** Checks places that the daemon writes to. Creates nothing. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Finding, fail, outage, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import { createDiskSpace } from '../../http/health/readiness.js'

/** A file that the daemon writes, and that need not exist yet. */
export async function judgeFile(about: string, file: string): Promise<Finding | undefined> {
  const misplaced = await judgeFolder(about, dirname(file))
  if (misplaced) return misplaced
  const there = await stat(file).catch(() => undefined)
  if (!there) return undefined
  if (!there.isFile()) return fail(about, `${file} is no file`)
  if (!(await allows(file, constants.R_OK | constants.W_OK))) {
    return fail(about, `${file} is not readable and writable`)
  }
  return undefined
}

/** A folder that the daemon writes files into. */
export async function judgeFolder(about: string, folder: string): Promise<Finding | undefined> {
  const there = await stat(folder).catch(() => undefined)
  if (!there) return fail(about, `the folder ${folder} does not exist`)
  if (!there.isDirectory()) return fail(about, `${folder} is no folder`)
  if (await allows(folder, constants.W_OK | constants.X_OK)) return undefined
  return fail(about, `the folder ${folder} is not writable`)
}

const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

/** The disk under a file. */
export async function judgeSpace(about: string, file: string): Promise<Finding[]> {
  const free = await createDiskSpace(file)()
  if (free === undefined) return []
  const message = `${Math.floor(free / 1024 ** 2)} MiB are free in ${dirname(file)}`
  if (free < limits.journalFreeBytesMin) return [outage(about, `only ${message}`)]
  return free < limits.freeBytesWarn ? [warn(about, `only ${message}`)] : []
}
