import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ArtifactFile,
  type CircuitArtifacts,
  type CircuitName,
  type CircuitsOfManifest,
  type Manifest,
  manifestFile,
  parseManifest,
  readKeyFile,
  treeHeight,
  verificationKeyHash,
} from '@svc-zerc20/zk'
import { compilerVersion } from '../compiler/compile.js'

/** Names of a circuit's files beside the manifest. */
export const filesOf = (name: CircuitName) => ({ witness: `${name}.wasm`, provingKey: `${name}.zkey` })

/** Describes the files of a circuit in the folder. */
export async function describeCircuit(
  folder: string,
  name: CircuitName,
  constraints: number,
): Promise<CircuitArtifacts> {
  const files = filesOf(name)
  const key = readKeyFile(await readFile(join(folder, files.provingKey)))
  const { wires, domain, verificationKey, contributions } = key
  return {
    constraints,
    domain,
    wires,
    witness: await hashed(folder, files.witness),
    provingKey: await hashed(folder, files.provingKey),
    verificationKey,
    verificationKeyHash: verificationKeyHash(verificationKey),
    ...(contributions.length > 0 && { contributions: contributions.map(({ hash }) => hash) }),
  }
}

async function hashed(folder: string, file: string): Promise<ArtifactFile> {
  const bytes = await readFile(join(folder, file))
  return { file, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** Writes the manifest of a folder. Throws if readers would refuse it. */
export async function writeManifest(
  folder: string,
  facts: Pick<Manifest, 'setup' | 'powBits' | 'sourcesHash'> & {
    readonly circuits: readonly (readonly [CircuitName, CircuitArtifacts])[]
  },
): Promise<void> {
  const manifest: Manifest = {
    format: 1,
    setup: facts.setup,
    generation: 2,
    powBits: facts.powBits,
    treeHeight,
    sourcesHash: facts.sourcesHash,
    compiler: compilerVersion(),
    circuits: Object.fromEntries(facts.circuits) as CircuitsOfManifest,
  }
  await replaceManifest(folder, manifest)
}

/** Writes a manifest in one step, so that a reader never sees half of it. Throws if readers would refuse it. */
export async function replaceManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`
  parseManifest(text)
  const file = join(folder, manifestFile)
  await writeFile(`${file}.part`, text)
  await rename(`${file}.part`, file)
}
