/** Finds proving keys that the configuration does not name, by the key hashes of the verifier on chain. */
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { batchCircuit, type Manifest, type NeededCircuit, neededCircuits } from '@svc-zerc20/zk'
import { limits } from '../../../config/limits.js'
import { packageFolder } from '../../../package.js'
import { readManifest } from './artifacts.js'

/** Key hashes by circuit. There is none of batches while the verifier takes none. */
export type KeyHashes = Readonly<Record<NeededCircuit, string>> & {
  readonly [batchCircuit]?: string | undefined
}

const folderName = 'circuits'
const othersMayWrite = 0o002

/** The usual ones: beside the configuration and the journal, the user's data folder, this repository's cache. */
export function usualKeyFolders(configFile: string, journal: string | undefined): string[] {
  const beside = journal === undefined || journal === 'none' ? [] : [join(dirname(journal), folderName)]
  return [
    join(dirname(configFile), folderName),
    ...beside,
    join(homedir(), '.local', 'share', 'svc-zerc20', folderName),
    join(packageFolder, '..', '..', '.cache', folderName),
  ]
}

/**
 * The first folder whose keys have exactly these hashes: one of these, or a folder in it. The hashes alone decide,
 * and a proof with wrong keys would be refused on chain. World-writable folders are skipped, because anybody could
 * replace a key there and so stop mints. A folder that lacks nothing but the key of batches is the second choice:
 * single mints work with it, and the check tells what is missing.
 */
export async function findArtifacts(
  keyFolders: readonly string[],
  hashes: KeyHashes | undefined,
  isAllowed: (manifest: Manifest) => boolean,
): Promise<string | undefined> {
  if (hashes === undefined) return undefined
  let secondChoice: string | undefined
  for (const outer of new Set(keyFolders)) {
    for (const folder of [outer, ...(await foldersIn(outer))]) {
      const manifest = await readManifest(folder)
      if (typeof manifest === 'string' || !hasKeys(manifest, hashes) || !isAllowed(manifest)) continue
      if (!(await isOurs(folder))) continue
      if (hasBatchKey(manifest, hashes)) return folder
      secondChoice ??= folder
    }
  }
  return secondChoice
}

const hasKeys = ({ circuits }: Manifest, hashes: KeyHashes): boolean =>
  neededCircuits.every((name) => circuits[name].verificationKeyHash === hashes[name])

const hasBatchKey = ({ circuits }: Manifest, hashes: KeyHashes): boolean =>
  hashes[batchCircuit] === undefined || circuits[batchCircuit]?.verificationKeyHash === hashes[batchCircuit]

async function foldersIn(outer: string): Promise<string[]> {
  const entries = await readdir(outer).catch(() => [])
  return entries
    .toSorted()
    .slice(0, limits.artifactFoldersMax)
    .map((name) => join(outer, name))
}

async function isOurs(folder: string): Promise<boolean> {
  const found: Stats[] = await Promise.all([stat(folder), stat(dirname(folder))])
  return found.every(({ mode }) => (mode & othersMayWrite) === 0)
}
