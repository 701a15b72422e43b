/** Files that survive a crash. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Access for the owner alone: these folders show what was bought, and where. */
const folderMode = 0o700
const fileMode = 0o600

export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: folderMode })
}

/** Writes a new file under a name that nobody else has, and resolves once it is on the disk. */
export async function writeAside(folder: string, text: string): Promise<string> {
  const path = join(folder, `${randomBytes(12).toString('hex')}.tmp`)
  const file = await open(path, 'wx', fileMode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

/**
 * Puts a file at a path at once, or not at all. `write` gets a new name beside the path, and that file then takes the
 * path's place. A link that stands there is replaced, and never followed.
 */
export async function putFile(path: string, write: (aside: string) => Promise<void>): Promise<void> {
  const folder = dirname(path)
  const aside = join(folder, `.svc-pay-${randomBytes(12).toString('hex')}.tmp`)
  try {
    await write(aside)
    const file = await open(aside, 'r')
    await file.sync().finally(() => file.close())
    await rename(aside, path)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** Resolves once the names in a folder are on the disk. Systems that cannot do this do not need it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  try {
    await handle?.sync()
  } catch {
    // Windows keeps names in order by itself.
  } finally {
    await handle?.close()
  }
}

/**
 * Appends one line in a single write, and resolves once it is on the disk. A torn last line is ended first.
 */
export async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, 'a+', fileMode)
  try {
    const { size } = await file.stat()
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    const isTorn = size > 0 && last.toString() !== '\n'
    await file.appendFile(`${isTorn ? '\n' : ''}${line}\n`)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** Why somebody else can change a file or folder. Undefined when nobody can. */
export function othersMayWrite({ uid, mode }: { readonly uid: number; readonly mode: number }) {
  const self = process.getuid?.()
  if (self !== undefined && uid !== self && uid !== 0) return `it belongs to user ${uid}, who can change it`
  return (mode & 0o022) === 0 ? undefined : 'other users of this machine can write it: chmod go-w'
}

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
