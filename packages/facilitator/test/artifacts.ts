/** Folders of proving keys for tests that prove nothing. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { circuitNames, verificationKeyHash } from '@svc-zerc20/zk'
import { onTestFinished } from 'vitest'

const word = (seed: number) => `0x${seed.toString(16).padStart(64, '0')}` as const
const g1 = [word(1), word(2)] as const
const g2 = (seed: number) => [word(seed), word(seed + 1), word(seed + 2), word(seed + 3)] as const

/** The manifest with changes; one of the files may be damaged. Gone with the test. */
export function folderOf(changes: object = {}, damage?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const verificationKey = { alpha: g1, beta: g2(10), gamma: g2(20), delta: g2(30), ic: [g1, g1] }
  const fileOf = (file: string) => {
    writeFileSync(join(folder, file), file === damage ? 'something else' : file)
    return { file, sha256: createHash('sha256').update(file).digest('hex') }
  }
  const circuitOf = (name: string) => ({
    constraints: 1,
    domain: 2,
    wires: 3,
    witness: fileOf(`${name}.wasm`),
    provingKey: fileOf(`${name}.zkey`),
    verificationKey,
    verificationKeyHash: verificationKeyHash(verificationKey),
  })
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
