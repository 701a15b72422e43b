/**
 * Every statement that was issued, one file each, on the disk before anybody has the statement. So the operator can always tell what
 * was signed, and revoke it.
 */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { replaceFile, syncFolder } from '../../store/journal/disk.js'

export type Artifact = {
  readonly jti: string
  readonly kind: string
  readonly role: string
  readonly audience: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** The statement file as it was given to the participant. */
  readonly file: object
}

/** The form of a `jti`. It names a file, so nothing else may come near a path. */
export const isJti = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** 256 folders, so that none grows too large. */
const folderOf = (root: string, jti: string) => join(root, jti.slice(0, 2))
const pathOf = (root: string, jti: string) => join(folderOf(root, jti), `${jti}.json`)

const unfinishedIn = (root: string) => join(root, 'unfinished')

/** Makes the folder if it is missing, and removes what a crash left half written. */
export async function openArtifacts(root: string) {
  const unfinished = unfinishedIn(root)
  await inArtifacts(root, async () => {
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { recursive: true, mode: 0o700 })
  })
  const known = new Set<string>()

  /** A new folder has to survive, too, or its files do not. */
  async function makeFolder(path: string): Promise<void> {
    if (known.has(path)) return
    if ((await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(root)
    known.add(path)
  }

  return {
    /** Resolves when the file is whole and will survive a power failure. Throws `SvcError('ledger_failed')`. */
    write: (artifact: Artifact): Promise<void> =>
      inArtifacts(root, async () => {
        if (!isJti(artifact.jti)) throw new Error('no name for a file')
        await assertOpened(root)
        await makeFolder(folderOf(root, artifact.jti))
        const text = `${JSON.stringify({ v: 1, ...artifact }, undefined, 2)}\n`
        await replaceFile(pathOf(root, artifact.jti), text, { unfinished: join(unfinished, artifact.jti) })
      }),
  }
}

/**
 * Throws when the folder is not the one that was opened: it was removed, or its disk is not mounted any more. An empty folder
 * in its place would tell verifiers that no statement was revoked.
 */
export async function assertOpened(root: string): Promise<void> {
  await stat(unfinishedIn(root)).catch((cause) => {
    throw new Error('the folder is not the one that was opened; put it back, or mount its disk', { cause })
  })
}

/** Works in the folder. Throws `SvcError('ledger_failed')`, in the operator's words, when that fails. */
export async function inArtifacts<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const why = (cause as Error).message
    throw new SvcError('ledger_failed', `HISTORY_ARTIFACT_PATH: ${root} cannot be used: ${why}`, { cause })
  }
}

/** When the statement expires, or undefined when there is no such statement here. */
export async function expiryOf(root: string, jti: string): Promise<number | undefined> {
  try {
    const { expiresAt } = JSON.parse(await readFile(pathOf(root, jti), 'utf8')) as Artifact
    return expiresAt
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
