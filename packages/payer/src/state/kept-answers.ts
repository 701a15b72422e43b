/**
 * Bought answers, on the disk until somebody has them: `answers/NONCE/` has the head, and the body or the part of it that
 * came. A seller gives an answer once; its buyer must not lose it to a full disk elsewhere or a killed process.
 */
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChallengeNonce, type Clock, Json, parseChallengeNonce } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { makeFolder, syncFolder } from './files.js'

export type KeptAnswer = {
  readonly challengeNonce: ChallengeNonce
  readonly status: number
  readonly url: string
  readonly headers: readonly [string, string][]
  /** False: the body broke off, and this is its beginning. */
  readonly isComplete: boolean
  readonly bytes: number
  readonly atMs: number
  readonly path: string
}

export type KeptAnswers = {
  /**
   * Reads a body to its end, and writes every piece to the disk as it comes. Beside the pieces it tells what broke the
   * body off, and whether the disk has all that came. A disk that fails costs the copy, and never the answer.
   */
  keep(
    challengeNonce: ChallengeNonce,
    response: Response,
    heldBytesMax?: number,
  ): Promise<ReadAnswer & { readonly isKept: boolean }>
  find(challengeNonce: ChallengeNonce): Promise<KeptAnswer | undefined>
  /** All of them, the oldest first. */
  list(): Promise<readonly KeptAnswer[]>
  drop(challengeNonce: ChallengeNonce): Promise<void>
}

export type ReadAnswer = {
  /** The body, or its beginning where less is held in memory. */
  readonly pieces: Uint8Array<ArrayBuffer>[]
  /** Bytes that came. */
  readonly bytes: number
  readonly broken: Error | undefined
}

/**
 * Reads a body to its end, or to where it breaks off. Nothing is waited for in between: what has arrived is lost with the
 * connection unless it was read.
 */
export async function readAnswerTo(
  response: Response,
  take: (piece: Uint8Array) => void,
  heldBytesMax = Number.POSITIVE_INFINITY,
): Promise<ReadAnswer> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  try {
    for await (const piece of response.body ?? []) {
      if (bytes < heldBytesMax) pieces.push(piece)
      bytes += piece.byteLength
      take(piece)
    }
    return { pieces, bytes, broken: undefined }
  } catch (error) {
    return { pieces, bytes, broken: error as Error }
  }
}

const names = { head: 'head.json', whole: 'body', part: 'part', coming: 'coming' } as const

export function createKeptAnswers({
  folder,
  clock,
  limits,
}: {
  readonly folder: string
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'keptAnswersMax' | 'keptBytesMax' | 'keptSecondsMax'>
}): KeptAnswers {
  const placeOf = (nonce: ChallengeNonce, name: keyof typeof names) => join(folder, nonce, names[name])

  async function begin(nonce: ChallengeNonce, { status, url, headers }: Response): Promise<FileHandle> {
    await makeRoom(nonce)
    await makeFolder(join(folder, nonce))
    const head = await open(placeOf(nonce, 'head'), 'w', 0o600)
    try {
      await head.writeFile(JSON.stringify({ status, url, headers: [...headers] }))
      await head.sync()
    } finally {
      await head.close()
    }
    return open(placeOf(nonce, 'coming'), 'w', 0o600)
  }

  async function end(nonce: ChallengeNonce, file: FileHandle, isComplete: boolean): Promise<void> {
    await file.sync()
    await file.close()
    const coming = placeOf(nonce, 'coming')
    if (isComplete) {
      await rename(coming, placeOf(nonce, 'whole'))
      await rm(placeOf(nonce, 'part'), { force: true })
    } else if ((await sizeOf(coming)) >= (await sizeOf(placeOf(nonce, 'part')))) {
      await rename(coming, placeOf(nonce, 'part'))
    }
    await syncFolder(join(folder, nonce))
  }

  async function find(nonce: ChallengeNonce): Promise<KeptAnswer | undefined> {
    const head = await readHead(placeOf(nonce, 'head'))
    if (head === undefined) return undefined
    const found: { path: string; bytes: number; atMs: number; isComplete: boolean }[] = []
    for (const name of ['whole', 'part', 'coming'] as const) {
      const path = placeOf(nonce, name)
      const file = await stat(path).catch(() => undefined)
      if (file) found.push({ path, bytes: file.size, atMs: file.mtimeMs, isComplete: name === 'whole' })
    }
    // A killed process may have left the longer part where it was coming in.
    const best = found.find(({ isComplete }) => isComplete) ?? found.sort((a, b) => b.bytes - a.bytes)[0]
    return best && { challengeNonce: nonce, ...head, ...best }
  }

  async function list(): Promise<readonly KeptAnswer[]> {
    const nonces = (await readdir(folder).catch(() => [])).map(parseChallengeNonce)
    const all = await Promise.all(nonces.filter((nonce) => nonce !== undefined).map(find))
    return all.filter((each) => each !== undefined).sort((a, b) => a.atMs - b.atMs)
  }

  const drop = (nonce: ChallengeNonce) => rm(join(folder, nonce), { recursive: true, force: true })

  /** Removes a copy that the disk has not taken. An earlier part stays. */
  async function forget(nonce: ChallengeNonce): Promise<void> {
    await rm(placeOf(nonce, 'coming'), { force: true })
    if ((await find(nonce)) === undefined) await drop(nonce)
  }

  async function makeRoom(besides: ChallengeNonce): Promise<void> {
    const kept = (await list()).filter(({ challengeNonce }) => challengeNonce !== besides)
    let left = kept.length
    let bytes = kept.reduce((sum, each) => sum + each.bytes, 0)
    for (const { challengeNonce, bytes: size, atMs } of kept) {
      const isOld = clock.now() - atMs > limits.keptSecondsMax * 1_000
      if (!isOld && left < limits.keptAnswersMax && bytes <= limits.keptBytesMax) return
      await drop(challengeNonce)
      left -= 1
      bytes -= size
    }
  }

  return {
    find,
    list,
    drop,
    async keep(nonce, response, heldBytesMax) {
      const begun = heard(begin(nonce, response))
      let written: Promise<unknown> = begun
      const write = (piece: Uint8Array) => {
        written = heard(written.then(async () => (await begun).writeFile(piece)))
      }
      const read = await readAnswerTo(response, write, heldBytesMax)
      const isKept = await written
        .then(async () => end(nonce, await begun, read.broken === undefined))
        .then(
          () => true,
          () => false,
        )
      if (!isKept) {
        await begun.then((file) => file.close()).catch(() => undefined)
        await forget(nonce).catch(() => undefined)
      }
      return { ...read, isKept }
    },
  }
}

/** Work whose failure is looked at later: until then it is no error of the process. */
function heard<Work extends Promise<unknown>>(work: Work): Work {
  work.catch(() => undefined)
  return work
}

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0

async function readHead(path: string): Promise<Pick<KeptAnswer, 'status' | 'url' | 'headers'> | undefined> {
  try {
    const head: unknown = JSON.parse(await readFile(path, 'utf8'))
    const isHead = Json.isObject(head) && Number.isInteger(head.status) && Array.isArray(head.headers)
    return isHead ? (head as Pick<KeptAnswer, 'status' | 'url' | 'headers'>) : undefined
  } catch {
    return undefined
  }
}
