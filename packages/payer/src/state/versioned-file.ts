/**
 * A cell in a folder that any number of processes share, without a lock that a killed process could leave behind.
 *
 * The value lives in numbered files. A writer puts the new value under its own name, and links that name to the next
 * number. Linking fails when the number exists. So exactly one of several writers succeeds, and the others begin again
 * from its value. A killed process leaves either the old value or the new one.
 *
 * Old numbers are removed. A writer that slept meanwhile could then link a number that was used and removed long ago. The
 * writer finds out right afterwards: the newest file is never removed, so a file with a higher number exists, and that
 * file does not list the writer's commit.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { link, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, createSerial, Json } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { errorCode, makeFolder, syncFolder, writeAside } from './files.js'

/** One value that several callers change. */
export type Cell<T> = {
  read(): Promise<T | undefined>
  /**
   * Atomic: no other change comes between the value that `change` sees and the value it returns. `change` may
   * run several times, and only its last result counts. Returning the given value writes nothing.
   */
  update(change: (before: T | undefined) => T): Promise<T>
}

/** A cell that ends with the process. */
export function createMemoryCell<T>(): Cell<T> {
  let value: T | undefined
  return {
    read: async () => value,
    async update(change) {
      const after = change(value)
      value = after
      return after
    },
  }
}

/** How often a change is begun again because another writer was faster. */
const attemptsMax = 2_000
/** Longest pause before a change is begun again. Pauses grow up to this. */
const pauseMsMax = 50
/** Commits that a file lists, its own included. */
const commitsListed = 64
/** Age at which an unlinked file counts as left behind by a killed process. */
const asideMsMax = 600_000

/**
 * Versions that stay. A listing of the folder may miss files that are written meanwhile, and must still find
 * the version that was the newest when the listing began.
 */
const versionsKept = 8

type Version<T> = {
  readonly number: number
  readonly commits: readonly string[]
  readonly value: T | undefined
}

export function createVersionedFile<T>({
  folder,
  parse,
  clock,
}: {
  readonly folder: string
  /** Reads a stored value. Undefined when it is unreadable. */
  readonly parse: (value: unknown) => T | undefined
  readonly clock: Clock
}): Cell<T> {
  const pathOf = (number: number) => join(folder, `${number}.json`)

  async function newest(): Promise<Version<T>> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const number = Math.max(0, ...(await numbersIn(folder)))
      if (number === 0) return { number: 0, commits: [], value: undefined }
      const text = await readFile(pathOf(number), 'utf8').catch((error) => {
        if (errorCode(error) === 'ENOENT') return undefined // a newer one has taken its place
        throw unusable(folder, error)
      })
      if (text !== undefined) return { number, ...parseVersion(text, pathOf(number), parse) }
    }
    throw unusable(folder, new Error('its files change too fast to be read'))
  }

  /** Whether the commit became part of the value. */
  async function commit(before: Version<T>, value: T, id: string): Promise<boolean> {
    const number = before.number + 1
    if (before.number === 0) await makeFolder(folder)
    const commits = [id, ...before.commits].slice(0, commitsListed)
    const aside = await writeAside(folder, JSON.stringify({ version: 1, commits, value }))
    try {
      await link(aside, pathOf(number))
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false
      throw error
    } finally {
      await rm(aside, { force: true })
    }
    await syncFolder(folder)
    const numbers = await numbersIn(folder)
    if (Math.max(...numbers) > number && !(await newest()).commits.includes(id)) {
      await rm(pathOf(number), { force: true })
      return false
    }
    if (numbers.length > 2 * versionsKept) await clean(number - versionsKept)
    return true
  }

  /** Removes old versions, and files that killed processes left behind. */
  async function clean(below: number): Promise<void> {
    for (const name of await readdir(folder)) {
      const number = numberOf(name)
      const path = join(folder, name)
      if (number !== undefined ? number < below : name.endsWith('.tmp') && (await isOld(path))) {
        await rm(path, { force: true })
      }
    }
  }

  async function isOld(path: string): Promise<boolean> {
    const found = await stat(path).catch(() => undefined)
    return found !== undefined && clock.now() - found.mtimeMs > asideMsMax
  }

  // Callers in one process wait for each other, instead of trying in vain.
  const serial = createSerial()

  return {
    read: async () => (await newest()).value,

    update: (change) => serial(() => update(change)),
  }

  async function update(change: (before: T | undefined) => T): Promise<T> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const before = await newest()
      const after = change(before.value)
      if (before.value !== undefined && after === before.value) return after
      const id = randomBytes(8).toString('hex')
      const isDone = await commit(before, after, id).catch((error) => {
        if (errorCode(error) === 'ENOENT') return false // the folder was removed meanwhile
        throw error instanceof PayerError ? error : unusable(folder, error)
      })
      if (isDone) return after
      await clock.sleep(randomInt(1, Math.min(2 + attempt * 2, pauseMsMax)))
    }
    throw unusable(folder, new Error('too many processes change it'))
  }
}

const numberOf = (name: string): number | undefined =>
  /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : undefined

async function numbersIn(folder: string): Promise<number[]> {
  try {
    return (await readdir(folder)).map(numberOf).filter((number) => number !== undefined)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw unusable(folder, error)
  }
}

function parseVersion<T>(text: string, path: string, parse: (value: unknown) => T | undefined) {
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (error) {
    throw unusable(path, error)
  }
  if (!Json.isObject(raw) || raw.version !== 1 || !Array.isArray(raw.commits)) {
    throw unusable(path, new Error('it was not written by this version of the payer'))
  }
  const value = parse(raw.value)
  if (value === undefined) throw unusable(path, new Error('its content cannot be read'))
  return { commits: raw.commits.map(String), value }
}

const unusable = (path: string, error: unknown) =>
  new PayerError('state_unusable', `${path}: ${(error as Error).message}`, { cause: error })
