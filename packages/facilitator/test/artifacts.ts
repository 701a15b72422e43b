/** Folders of proving keys for tests that prove nothing. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CircuitName,
  circuitNames,
  readKeyFile,
  type VerificationKey,
  verificationKeyHash,
} from '@svc-zerc20/zk'
import { onTestFinished } from 'vitest'

const word = (seed: number) => `0x${seed.toString(16).padStart(64, '0')}` as const
const g1 = [word(1), word(2)] as const
const g2 = (seed: number) => [word(seed), word(seed + 1), word(seed + 2), word(seed + 3)] as const

type Key = { bytes: string | Uint8Array; verificationKey: VerificationKey; contributions?: string[] }

const developmentKey = (name: CircuitName): Key => ({
  bytes: `${name}.zkey`,
  verificationKey: { alpha: g1, beta: g2(10), gamma: g2(20), delta: g2(30), ic: [g1, g1] },
})

/** The key of a small circuit from a ceremony with two participants and a beacon. */
function ceremonyKey(): Key {
  const bytes = readFileSync(new URL('../../zk/test/ceremony.zkey', import.meta.url))
  const { verificationKey, contributions } = readKeyFile(bytes)
  return { bytes, verificationKey, contributions: contributions.map(({ hash }) => hash) }
}

/** A folder of development keys with a changed manifest, and optionally a damaged file. Removed after the test. */
export function folderOf(changes: object = {}, damage?: string): string {
  return writeFolder(developmentKey, changes, damage)
}

/** A folder of ceremony keys. The `relabelled` circuit's key only claims to be from a ceremony. Removed after the test. */
export function ceremonyFolder(changes: object = {}, relabelled?: CircuitName): string {
  const key = ceremonyKey()
  const keyOf = (name: CircuitName): Key => (name === relabelled ? { ...key, bytes: 'another' } : key)
  return writeFolder(keyOf, { setup: 'ceremony', powBits: 16, ...changes })
}

function writeFolder(keyOf: (name: CircuitName) => Key, changes: object, damage?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const fileOf = (file: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, file), file === damage ? 'something else' : content)
    return { file, sha256: createHash('sha256').update(content).digest('hex') }
  }
  const circuitOf = (name: CircuitName) => {
    const { bytes, ...key } = keyOf(name)
    return {
      constraints: 1,
      domain: 2,
      wires: 3,
      witness: fileOf(`${name}.wasm`, `${name}.wasm`),
      provingKey: fileOf(`${name}.zkey`, bytes),
      verificationKeyHash: verificationKeyHash(key.verificationKey),
      ...key,
    }
  }
  const manifest = {
    format: 1,
    setup: 'development',
    generation: 2,
    powBits: 8,
    treeHeight: 40,
    sourcesHash: 'sources',
    compiler: 'compiler',
    circuits: Object.fromEntries(circuitNames.map((name) => [name, circuitOf(name)])),
    ...changes,
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return folder
}
