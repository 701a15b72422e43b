/** Finds proving keys that the configuration does not name, by the key hashes of the verifier on chain. */
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CircuitName, circuitNames, type Manifest } from '@svc-zerc20/zk'
import { readManifest } from './artifacts.js'
import { checkLimits } from './limits.js'

export type KeyHashes = Readonly<Record<CircuitName, string>>

const folderName = 'circuits'
const othersMayWrite = 0o002

/** The usual places: beside the configuration and the journal, the user's data folder, this repository's cache. */
export function usualPlaces(configFile: string, journal: string | undefined): string[] {
  const beside = journal === undefined || journal === 'none' ? [] : [join(dirname(journal), folderName)]
  return [
    join(dirname(configFile), folderName),
    ...beside,
    join(homedir(), '.local', 'share', 'svc-zerc20', folderName),
    fileURLToPath(new URL(`../../../../.cache/${folderName}`, import.meta.url)),
  ]
}

/**
 * The first folder whose keys have exactly these hashes: one of the places, or a folder in it. The hashes alone decide,
 * and a proof with wrong keys would be refused on chain. World-writable folders are skipped, because anybody could
 * replace a key there and so stop mints.
 */
export async function findArtifacts(
  places: readonly string[],
  hashes: KeyHashes | undefined,
  isAllowed: (manifest: Manifest) => boolean,
): Promise<string | undefined> {
  if (hashes === undefined) return undefined
  for (const place of new Set(places)) {
    for (const folder of [place, ...(await foldersIn(place))]) {
      const manifest = await readManifest(folder)
      if (typeof manifest === 'string' || !hasKeys(manifest, hashes) || !isAllowed(manifest)) continue
      if (await isOurs(folder)) return folder
    }
  }
  return undefined
}

const hasKeys = ({ circuits }: Manifest, hashes: KeyHashes): boolean =>
  circuitNames.every((name) => circuits[name].verificationKeyHash === hashes[name])

async function foldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place).catch(() => [])
  return entries
    .toSorted()
    .slice(0, checkLimits.artifactFoldersMax)
    .map((name) => join(place, name))
}

async function isOurs(folder: string): Promise<boolean> {
  const found: Stats[] = await Promise.all([stat(folder), stat(dirname(folder))])
  return found.every(({ mode }) => (mode & othersMayWrite) === 0)
}
