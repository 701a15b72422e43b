/** Proving keys that nobody named: found by the hashes of the keys that the verifier on chain has. */
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

/** Beside the configuration and the journal, in the user's data folder, and where this repository builds keys. */
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
 * The first folder with keys of exactly these hashes: one of the places, or a folder in it. Neither name nor place makes
 * keys good; a proof of wrong ones is refused on chain. What everybody may write to is passed over all the same, for
 * whoever replaces a proving key there stops mints.
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
