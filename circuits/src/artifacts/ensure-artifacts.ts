import { randomBytes } from 'node:crypto'
import { access, copyFile, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CircuitArtifacts, type CircuitName, circuitNames, readArtifacts } from '@svc-zerc20/zk'
import { type Catalogue, catalogue } from '../compiler/catalogue.js'
import { type Compiled, compile, prepareSources } from '../compiler/compile.js'
import { developmentSetup } from '../development-setup/development-setup.js'
import { createFixedBasePool, type FixedBasePool } from '../development-setup/fixed-base-pool.js'
import { readR1cs } from '../files/r1cs.js'
import { encodeZkey } from '../files/zkey.js'
import { createWorkFolder, lockFolder } from './build-lock.js'
import { folderName, hashSources } from './cache-key.js'
import { createLane } from './lane.js'
import { describeCircuit, filesOf, writeManifest } from './manifest.js'

/** Proof-of-work bits of the development network. */
export const developmentPowBits = 8

/** The repository's folder for generated artifacts. */
export const defaultFolder = fileURLToPath(new URL('../../../.cache/circuits', import.meta.url))

/** Threads, and compilers, that run at once. More than two would only use memory on a small machine. */
const parallelMax = 2

export type EnsureArtifacts = {
  /** The folder that contains one subfolder for each set of artifacts. */
  readonly folder?: string
  readonly powBits?: number
  /** Called with one line for each step, never when nothing is missing. */
  readonly onProgress?: (line: string) => void
}

/** The folder with development artifacts of the current sources. Builds them if they are missing. */
export function ensureArtifacts(options: EnsureArtifacts = {}): Promise<string> {
  const { folder = defaultFolder, powBits = developmentPowBits, onProgress = () => {} } = options
  return ensureDevelopment({ folder, powBits, circuits: catalogue(powBits), onProgress })
}

type Wanted = {
  readonly folder: string
  readonly powBits: number
  readonly circuits: Catalogue
  readonly onProgress: (line: string) => void
}

/**
 * Builds a set elsewhere and renames it at the end, so that half a set is never seen. If several processes build, the
 * first to finish wins, so keys in use are never replaced.
 */
export async function ensureDevelopment(wanted: Wanted): Promise<string> {
  const { folder, powBits, circuits, onProgress } = wanted
  const sourcesHash = await hashSources(circuits)
  const target = join(folder, folderName(powBits, sourcesHash))
  if (await isComplete(target)) return target

  await mkdir(folder, { recursive: true })
  const unlock = await lockFolder(folder, () => onProgress('circuits: another process builds them, waiting'))
  try {
    if (await isComplete(target)) return target
    const work = await createWorkFolder(folder)
    try {
      const built = await build(work, sourcesHash, wanted)
      if (!(await isComplete(target))) {
        // Only an incomplete set is removed here.
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

async function build(work: string, sourcesHash: string, wanted: Wanted): Promise<string> {
  const { powBits, circuits, onProgress } = wanted
  const sources = join(work, 'sources')
  const result = join(work, 'result')
  await Promise.all([prepareSources(sources), mkdir(result)])
  const threads = Math.min(parallelMax, availableParallelism())
  const pool = createFixedBasePool({ threads })
  const compiling = createLane(threads)
  const settingUp = createLane(parallelMax)
  let done = 0

  const makeOne = async (name: CircuitName): Promise<readonly [CircuitName, CircuitArtifacts]> => {
    const compiled = await compiling(() => {
      onProgress(`circuits: compiling ${name}`)
      return compile(sources, name, circuits[name])
    })
    return settingUp(async () => {
      const artifacts = await setUp({ name, compiled, result, pool })
      done++
      const { constraints } = artifacts
      onProgress(`circuits: ${done} of ${circuitNames.length}, keys of ${name} (${constraints} constraints)`)
      return [name, artifacts]
    })
  }

  try {
    // The largest circuit first, because it takes longest.
    const made = await Promise.all([...circuitNames].reverse().map(makeOne))
    await writeManifest(result, { setup: 'development', powBits, sourcesHash, circuits: made.reverse() })
    return result
  } finally {
    await pool.close()
  }
}

type SetUp = {
  readonly name: CircuitName
  readonly compiled: Compiled
  readonly result: string
  readonly pool: FixedBasePool
}

async function setUp({ name, compiled, result, pool }: SetUp): Promise<CircuitArtifacts> {
  const r1cs = readR1cs(await readFile(compiled.r1csFile))
  const key = await developmentSetup({ r1cs, pool, random: randomBytes })
  const files = filesOf(name)
  await copyFile(compiled.witnessFile, join(result, files.witness))
  const keyFile = await open(join(result, files.provingKey), 'w')
  await keyFile.writev(encodeZkey(key))
  await keyFile.close()
  return describeCircuit(result, name, r1cs.constraints)
}
