import { randomBytes } from 'node:crypto'
import { access, copyFile, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type CircuitArtifacts,
  type CircuitName,
  circuitNames,
  keysOf,
  neededCircuits,
  readArtifacts,
} from '@svc-zerc20/zk'
import { type Catalogue, catalogue } from '../compiler/catalogue.js'
import { type Compiled, compile, prepareSources } from '../compiler/compile.js'
import { developmentSetup } from '../development-setup/development-setup.js'
import { createFixedBasePool, type FixedBasePool } from '../development-setup/fixed-base-pool.js'
import { readR1cs } from '../files/r1cs.js'
import { encodeZkey } from '../files/zkey.js'
import { createWorkFolder, lockFolder } from './build-lock.js'
import { folderName, hashSources } from './cache-key.js'
import { createLane } from './lane.js'
import { describeCircuit, filesOf, replaceManifest, writeManifest } from './manifest.js'

/** Proof-of-work bits of the development network. */
export const developmentPowBits = 8

/** The repository's folder for generated artifacts. */
export const defaultFolder = fileURLToPath(new URL('../../../.cache/circuits', import.meta.url))

/** Threads, and compilers, that run at once. More than two would only use memory on a small machine. */
const parallelMax = 2

/** Pause between two lines about one circuit. */
const progressMs = 5_000

export type EnsureArtifacts = {
  /** The folder that contains one subfolder for each set of artifacts. */
  readonly folder?: string
  readonly powBits?: number
  /** Also the keys of batch mints, which take longer than all others together. They join the set that is there. */
  readonly batch?: boolean
  /** Called with one line for each step, never when nothing is missing. */
  readonly onProgress?: (line: string) => void
}

/** The folder with development artifacts of the current sources. Builds them if they are missing. */
export function ensureArtifacts(options: EnsureArtifacts = {}): Promise<string> {
  const {
    folder = defaultFolder,
    powBits = developmentPowBits,
    batch = false,
    onProgress = () => {},
  } = options
  return ensureDevelopment({ folder, powBits, batch, circuits: catalogue(powBits), onProgress })
}

type Wanted = {
  readonly folder: string
  readonly powBits: number
  readonly batch: boolean
  readonly circuits: Catalogue
  readonly onProgress: (line: string) => void
}

/**
 * Builds aside and renames at the end, so that half a set is never seen. If several processes build, the first to
 * finish wins, so keys in use are never replaced.
 */
export async function ensureDevelopment(wanted: Wanted): Promise<string> {
  const { folder, powBits, circuits, onProgress } = wanted
  const names = wanted.batch ? circuitNames : neededCircuits
  const sourcesHash = await hashSources(circuits)
  const target = join(folder, folderName(powBits, sourcesHash))
  if (await hasAll(target, names)) return target

  await mkdir(folder, { recursive: true })
  const unlock = await lockFolder(folder, () => onProgress('circuits: another process builds them, waiting'))
  try {
    if (await hasAll(target, names)) return target
    const work = await createWorkFolder(folder)
    try {
      if (await hasAll(target, neededCircuits)) await addMissing(target, work, names, wanted)
      else await makeSet(target, work, names, { ...wanted, sourcesHash })
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  } finally {
    await unlock()
  }
  return target
}

/** Whether a set is there with the keys and programs of these circuits. */
async function hasAll(target: string, names: readonly CircuitName[]): Promise<boolean> {
  try {
    const { manifest } = await readArtifacts(target)
    const files = names
      .map((name) => keysOf(manifest, name))
      .flatMap((keys) => [keys.witness, keys.provingKey])
    await Promise.all(files.map(({ file }) => access(join(target, file))))
    return true
  } catch {
    return false
  }
}

/** Makes a set again. */
async function makeSet(
  target: string,
  work: string,
  names: readonly CircuitName[],
  wanted: Wanted & { readonly sourcesHash: string },
): Promise<void> {
  const { powBits, sourcesHash } = wanted
  const result = join(work, 'result')
  const circuits = await build(work, result, names, wanted)
  await writeManifest(result, { setup: 'development', powBits, sourcesHash, circuits })
  if (await hasAll(target, names)) return
  // Only an incomplete set is removed here.
  await rm(target, { recursive: true, force: true })
  await rename(result, target)
}

/** Adds circuits to a set in use. Its other keys stay as they are, and the manifest names the new ones last. */
async function addMissing(
  target: string,
  work: string,
  names: readonly CircuitName[],
  wanted: Wanted,
): Promise<void> {
  const present = await Promise.all(names.map((name) => hasAll(target, [name])))
  const result = join(work, 'result')
  const made = await build(
    work,
    result,
    names.filter((_, at) => !present[at]),
    wanted,
  )
  if (await hasAll(target, names)) return
  for (const [name] of made) {
    for (const file of Object.values(filesOf(name))) await rename(join(result, file), join(target, file))
  }
  const { manifest } = await readArtifacts(target)
  await replaceManifest(target, {
    ...manifest,
    circuits: { ...manifest.circuits, ...Object.fromEntries(made) },
  })
}

type Made = readonly (readonly [CircuitName, CircuitArtifacts])[]

/** Writes keys and programs of these circuits into `result`. */
async function build(
  work: string,
  result: string,
  names: readonly CircuitName[],
  { circuits, onProgress }: Wanted,
): Promise<Made> {
  const sources = join(work, 'sources')
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
      const onShare = paced((share) => onProgress(`circuits: keys of ${name}, ${Math.floor(share * 100)} %`))
      const artifacts = await setUp({ name, compiled, result, pool, onShare })
      done++
      const { constraints } = artifacts
      onProgress(`circuits: ${done} of ${names.length}, keys of ${name} (${constraints} constraints)`)
      return [name, artifacts]
    })
  }

  try {
    // The largest circuit first, because it takes longest.
    return (await Promise.all([...names].reverse().map(makeOne))).reverse()
  } finally {
    await pool.close()
  }
}

/** Passes on one call in five seconds, and not the last: another line tells that a key is complete. */
function paced(tell: (share: number) => void): (share: number) => void {
  let told = performance.now()
  return (share) => {
    if (share === 1 || performance.now() - told < progressMs) return
    told = performance.now()
    tell(share)
  }
}

type SetUp = {
  readonly name: CircuitName
  readonly compiled: Compiled
  readonly result: string
  readonly pool: FixedBasePool
  /** Called with the share of the key's points that are there. */
  readonly onShare: (share: number) => void
}

async function setUp({ name, compiled, result, pool, onShare }: SetUp): Promise<CircuitArtifacts> {
  const r1cs = readR1cs(await readFile(compiled.r1csFile))
  const key = await developmentSetup({ r1cs, pool, random: randomBytes, onShare })
  const files = filesOf(name)
  await copyFile(compiled.witnessFile, join(result, files.witness))
  const keyFile = await open(join(result, files.provingKey), 'w')
  await keyFile.writev(encodeZkey(key))
  await keyFile.close()
  return describeCircuit(result, name, r1cs.constraints)
}
