import { createHash, randomBytes } from 'node:crypto'
import { access, copyFile, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ArtifactFile,
  type CircuitArtifacts,
  type CircuitName,
  circuitNames,
  isForgeable,
  type Manifest,
  manifestFile,
  readArtifacts,
  treeHeight,
  verificationKeyHash,
} from '@svc-zerc20/zk'
import { createWorkFolder, lockFolder } from './build-lock.js'
import { folderName, hashSources } from './cache-key.js'
import { catalogue } from './catalogue.js'
import { compile, compilerVersion, prepareSources } from './compile.js'
import { developmentSetup } from './development-setup.js'
import { createFixedBasePool, type FixedBasePool } from './fixed-base-pool.js'
import { createLane } from './lane.js'
import { readR1cs } from './r1cs.js'
import { encodeZkey, readZkeyHead } from './zkey.js'

/** Proof-of-work bits of the development network. */
export const developmentPowBits = 8

/** Where this repository keeps what it generates. */
export const defaultFolder = fileURLToPath(new URL('../../.cache/circuits', import.meta.url))

/** Threads and compilers at work at once; more than two would only take memory on a small machine. */
const parallelMax = 2

export type EnsureArtifacts = {
  /** Holds one folder for each set of artifacts. */
  readonly folder?: string
  readonly powBits?: number
  /** One line for each step; nothing when all is there. */
  readonly onProgress?: (line: string) => void
}

/**
 * The folder with development artifacts of the present sources; builds them if they are missing. Never half a set: it
 * is built elsewhere and renamed at the end, and of several processes the first to finish wins, so keys that somebody
 * already uses are never replaced.
 */
export async function ensureArtifacts(options: EnsureArtifacts = {}): Promise<string> {
  const { folder = defaultFolder, powBits = developmentPowBits, onProgress = () => {} } = options
  const sourcesHash = await hashSources(powBits)
  const target = join(folder, folderName('development', powBits, sourcesHash))
  if (await isComplete(target)) return target

  await mkdir(folder, { recursive: true })
  const unlock = await lockFolder(folder, () => onProgress('circuits: another process builds them, waiting'))
  try {
    if (await isComplete(target)) return target
    const work = await createWorkFolder(folder)
    try {
      const built = await build({ work, powBits, sourcesHash, onProgress })
      if (!(await isComplete(target))) {
        // Only what lost a file gets here; a complete set stays.
        await rm(target, { recursive: true, force: true })
        await rename(built, target)
      }
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  } finally {
    await unlock()
  }
  return target
}

async function isComplete(target: string): Promise<boolean> {
  try {
    const { manifest } = await readArtifacts(target)
    const files = Object.values(manifest.circuits).flatMap(({ witness, provingKey }) => [witness, provingKey])
    await Promise.all(files.map(({ file }) => access(join(target, file))))
    return true
  } catch {
    return false
  }
}

type Build = {
  readonly work: string
  readonly powBits: number
  readonly sourcesHash: string
  readonly onProgress: (line: string) => void
}

async function build({ work, powBits, sourcesHash, onProgress }: Build): Promise<string> {
  const sources = join(work, 'sources')
  const result = join(work, 'result')
  await Promise.all([prepareSources(sources), mkdir(result)])
  const threads = Math.min(parallelMax, availableParallelism())
  const pool = createFixedBasePool({ threads })
  const compiling = createLane(threads)
  const settingUp = createLane(parallelMax)
  const circuits = catalogue(powBits)
  let done = 0

  const makeOne = async (name: CircuitName): Promise<[CircuitName, CircuitArtifacts]> => {
    const { r1csFile, witnessFile } = await compiling(() => {
      onProgress(`circuits: compiling ${name}`)
      return compile(sources, name, circuits[name])
    })
    return settingUp(async () => {
      const artifacts = await setUp({ name, r1csFile, witnessFile, result, pool })
      done++
      const { constraints } = artifacts
      onProgress(`circuits: ${done} of ${circuitNames.length}, keys of ${name} (${constraints} constraints)`)
      return [name, artifacts]
    })
  }

  try {
    // The largest first: it decides when all are done.
    const made = await Promise.all([...circuitNames].reverse().map(makeOne))
    const manifest: Manifest = {
      format: 1,
      setup: 'development',
      generation: 2,
      powBits,
      treeHeight,
      sourcesHash,
      compiler: compilerVersion(),
      circuits: Object.fromEntries(made.reverse()) as Record<CircuitName, CircuitArtifacts>,
    }
    await writeFile(join(result, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`)
    return result
  } finally {
    await pool.close()
  }
}

type SetUp = {
  readonly name: CircuitName
  readonly r1csFile: string
  readonly witnessFile: string
  readonly result: string
  readonly pool: FixedBasePool
}

async function setUp({ name, r1csFile, witnessFile, result, pool }: SetUp): Promise<CircuitArtifacts> {
  const r1cs = readR1cs(await readFile(r1csFile))
  const key = await developmentSetup({ r1cs, pool, random: randomBytes })
  const parts = encodeZkey(key)
  const { verificationKey } = readZkeyHead(Buffer.concat(parts))
  if (isForgeable(verificationKey)) throw new Error(`${name}: delta equals gamma`)
  const [witness, provingKey] = [`${name}.wasm`, `${name}.zkey`]
  await copyFile(witnessFile, join(result, witness))
  const keyFile = await open(join(result, provingKey), 'w')
  await keyFile.writev(parts)
  await keyFile.close()
  return {
    constraints: r1cs.constraints,
    domain: key.domain,
    wires: r1cs.wires,
    witness: await describe(result, witness),
    provingKey: await describe(result, provingKey),
    verificationKey,
    verificationKeyHash: verificationKeyHash(verificationKey),
  }
}

async function describe(folder: string, file: string): Promise<ArtifactFile> {
  const bytes = await readFile(join(folder, file))
  return { file, sha256: createHash('sha256').update(bytes).digest('hex') }
}
