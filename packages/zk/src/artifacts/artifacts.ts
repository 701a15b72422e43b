import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { batchCircuit, type CircuitName, circuitNames, type NeededCircuit } from '../circuit-name.js'
import type { Hex } from '../hex.js'
import { treeHeight } from '../merkle-tree.js'
import { ArtifactError } from './artifact-error.js'
import { readKeyFile } from './key-file.js'
import { isForgeable, type VerificationKey, verificationKeyHash } from './verification-key.js'

/** A file beside the manifest. */
export type ArtifactFile = {
  readonly file: string
  /** Lower-case hexadecimal, no prefix. */
  readonly sha256: string
}

/** The files and keys of one circuit. */
export type CircuitArtifacts = {
  readonly constraints: number
  /** Size of the evaluation domain: the power of two that holds the constraints. */
  readonly domain: number
  readonly wires: number
  /** The compiled witness generator. */
  readonly witness: ArtifactFile
  readonly provingKey: ArtifactFile
  readonly verificationKey: VerificationKey
  readonly verificationKeyHash: Hex
  /** Hashes of all steps of a ceremony, the beacon included, as recorded in the proving key. */
  readonly contributions?: readonly string[] | undefined
}

/** The manifest of a folder: which circuits its keys are for, and how they were made. */
export type Manifest = {
  readonly format: 1
  /** `development`: the maker of the keys can forge proofs. `ceremony`: only all contributors together could. */
  readonly setup: 'development' | 'ceremony'
  readonly generation: 2
  readonly powBits: number
  readonly treeHeight: typeof treeHeight
  readonly sourcesHash: string
  readonly compiler: string
  readonly circuits: CircuitsOfManifest
}

/** Keys by circuit. Those of batch mints may be missing: they are made when somebody asks for them. */
export type CircuitsOfManifest = Readonly<Record<NeededCircuit, CircuitArtifacts>> & {
  readonly [batchCircuit]?: CircuitArtifacts | undefined
}

/** Artifacts of one folder. */
export type Artifacts = {
  readonly folder: string
  readonly manifest: Manifest
  /** The bytes of a file, compared with the manifest's hash. Throws `ArtifactError`. */
  read(circuit: CircuitName, part: 'witness' | 'provingKey'): Promise<Uint8Array>
}

export const manifestFile = 'manifest.json'

const word = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)])
const g1 = z.tuple([word, word])
const g2 = z.tuple([word, word, word, word])
const count = z.int().positive()
const artifactFile = z.strictObject({
  // A file name, never a path, so that a manifest cannot point out of its folder.
  file: z.string().regex(/^[\w-][\w.-]*$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
const circuitArtifacts = z.strictObject({
  constraints: count,
  domain: count,
  wires: count,
  witness: artifactFile,
  provingKey: artifactFile,
  verificationKey: z.strictObject({ alpha: g1, beta: g2, gamma: g2, delta: g2, ic: z.array(g1).min(2) }),
  verificationKeyHash: word,
  contributions: z.array(z.string().regex(/^[0-9a-f]{128}$/)).optional(),
})
const manifestSchema = z.strictObject({
  format: z.literal(1),
  setup: z.enum(['development', 'ceremony']),
  generation: z.literal(2),
  powBits: z.int().nonnegative(),
  treeHeight: z.literal(treeHeight),
  sourcesHash: z.string(),
  compiler: z.string(),
  circuits: z.strictObject({
    'withdraw-local': circuitArtifacts,
    'withdraw-global': circuitArtifacts,
    'root-16': circuitArtifacts,
    'root-64': circuitArtifacts,
    [batchCircuit]: circuitArtifacts.optional(),
  }),
})

/**
 * Why keys must not be opened for proofs. Undefined where they may be. Whoever made keys of a development setup can forge
 * proofs with them, so they need conditions that hold on one's own machine alone; `missing` names those that do not hold.
 */
export const keysRefused = (
  { setup }: Pick<Manifest, 'setup'>,
  missing: readonly string[],
): string | undefined =>
  setup === 'development' && missing.length > 0
    ? `keys of a development setup, which need ${missing.join(' and ')}`
    : undefined

/** Parses a manifest. Throws `ArtifactError`, also for keys under which anybody could forge proofs. */
export function parseManifest(text: string): Manifest {
  let parsed: Manifest
  try {
    parsed = manifestSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw new ArtifactError('artifacts_malformed', 'the manifest is not one of this version', { cause })
  }
  for (const name of circuitsIn(parsed)) {
    const { verificationKey, verificationKeyHash: told, contributions = [] } = keysOf(parsed, name)
    if ((parsed.setup === 'ceremony') !== contributions.length > 0) {
      throw new ArtifactError(
        'artifacts_malformed',
        `${name}: a ceremony has contributions, and only a ceremony`,
      )
    }
    if (verificationKeyHash(verificationKey) !== told) {
      throw new ArtifactError(
        'artifacts_altered',
        `${name}: the verification key is not the one that was hashed`,
      )
    }
    if (isForgeable(verificationKey)) {
      throw new ArtifactError('artifacts_malformed', `${name}: delta equals gamma, anybody can forge proofs`)
    }
  }
  return parsed
}

/** The circuits that a manifest has keys of. */
export function circuitsIn({ circuits }: Pick<Manifest, 'circuits'>): CircuitName[] {
  return circuitNames.filter((name) => circuits[name] !== undefined)
}

/** The files and keys of a circuit. Throws `ArtifactError` when the folder was made without them. */
export function keysOf({ circuits }: Pick<Manifest, 'circuits'>, name: CircuitName): CircuitArtifacts {
  const keys = circuits[name]
  if (keys !== undefined) return keys
  throw new ArtifactError(
    'artifacts_missing',
    `the folder has no keys of ${name}; \`npm run circuits -- --batch\` makes development keys, a ceremony real ones`,
  )
}

/** Reads the manifest of a folder. Throws `ArtifactError`. */
export async function readArtifacts(folder: string): Promise<Artifacts> {
  const manifest = parseManifest(new TextDecoder().decode(await readNamed(folder, manifestFile)))
  return {
    folder,
    manifest,
    async read(circuit, part) {
      const keys = keysOf(manifest, circuit)
      const { file, sha256 } = keys[part]
      const bytes = await readNamed(folder, file)
      if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
        throw new ArtifactError('artifacts_altered', `${file} is not the file of the manifest`)
      }
      if (part === 'provingKey' && manifest.setup === 'ceremony') {
        checkCeremony(file, bytes, keys)
      }
      return bytes
    },
  }
}

/**
 * Anybody can write `ceremony` into a manifest, so the key file itself must contain the contributions. Whether the
 * key's points follow from them is checked by `npm run ceremony -- verify`, not here.
 */
function checkCeremony(file: string, bytes: Uint8Array, told: CircuitArtifacts): void {
  const { contributions, verificationKey } = readKeyFile(bytes)
  const hashes = contributions.map(({ hash }) => hash)
  if (hashes.join() !== (told.contributions ?? []).join()) {
    throw new ArtifactError(
      'artifacts_altered',
      `${file} has other contributions on record than the manifest`,
    )
  }
  if (contributions.every(({ beacon }) => beacon)) {
    throw new ArtifactError(
      'artifacts_malformed',
      `${file}: only a beacon contributed, anybody can forge proofs`,
    )
  }
  if (contributions.at(-1)?.beacon !== true) {
    const message = `${file}: the last contribution is no beacon, so somebody chose the key`
    throw new ArtifactError('artifacts_malformed', message)
  }
  if (verificationKeyHash(verificationKey) !== told.verificationKeyHash) {
    throw new ArtifactError('artifacts_altered', `${file} has another verification key than the manifest`)
  }
}

async function readNamed(folder: string, file: string): Promise<Uint8Array> {
  try {
    return await readFile(join(folder, file))
  } catch (cause) {
    throw new ArtifactError('artifacts_missing', `cannot read ${file} of the circuit artifacts`, { cause })
  }
}
