import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CircuitArtifacts, type CircuitName, type Contribution, circuitNames } from '@svc-zerc20/zk'
import { zKey } from 'snarkjs'
import { hashSources } from '../artifacts/cache-key.js'
import { describeCircuit, filesOf, writeManifest } from '../artifacts/manifest.js'
import type { Catalogue } from '../compiler/catalogue.js'
import { type Compiled, compile, prepareSources } from '../compiler/compile.js'
import { domainOf, type RandomBytes } from '../development-setup/development-setup.js'
import { readR1cs } from '../files/r1cs.js'
import { contributionsMin, inWords, judgeRecord, oneBeacon, recordLine } from './contribution-record.js'
import { comparePowersOfTau, type PowersOfTau, verifyPowersOfTau } from './powers-of-tau.js'

export type CeremonyStep = {
  /** Folder that participants pass on: one key file for each circuit and step. */
  readonly folder: string
  readonly onProgress: (line: string) => void
}

export type Prepare = CeremonyStep & {
  readonly circuits: Catalogue
  readonly powersOfTau: PowersOfTau
  /** The compiler. Tests pass one that reuses earlier results. */
  readonly compileCircuit?: typeof compile
}

export type Verify = Prepare & {
  /** Contributions that every key must have on record. A beacon does not count. */
  readonly minContributions?: number
  /** The announced value of the beacon. Without it, the beacon is printed and not compared. */
  readonly beacon?: string
  /** Verifies a ceremony that has no beacon yet. */
  readonly unfinished?: boolean
  /** Only compares the first phase with its hash, for a file that was verified before. */
  readonly skipFirstPhase?: boolean
}

/** Compiles the circuits and makes the initial keys, under which anybody could forge proofs. */
export async function prepareCeremony(ceremony: Prepare): Promise<void> {
  const { folder, powersOfTau, onProgress } = ceremony
  await comparePowersOfTau(powersOfTau)
  await mkdir(folder, { recursive: true })
  if ((await keyFiles(folder)).length > 0) throw new Error('the folder already holds a ceremony')
  await eachCompiled(ceremony, async (name, { r1csFile }) => {
    const to = join(folder, keyName(name, 0))
    const made = await zKey.newZKey(r1csFile, powersOfTau.file, `${to}.part`, loggerOf(onProgress))
    if (made === -1) {
      const power = Math.log2(domainOf(readR1cs(await readFile(r1csFile))))
      throw new Error(
        `${name} needs powers of tau for 2^${power} constraints; the file has too few, or is damaged`,
      )
    }
    await rename(`${to}.part`, to)
    onProgress(`ceremony: first key of ${name}`)
  })
}

/** Adds this participant's secret to every key and discards it. One honest participant makes the keys safe. */
export async function contribute(
  step: CeremonyStep & { readonly participant: string; readonly random: RandomBytes },
): Promise<string[]> {
  return addStep(step, async (from, to) => {
    const entropy = Buffer.from(step.random(64)).toString('hex')
    return zKey.contribute(
      from,
      to,
      step.participant,
      entropy,
      loggerOf(() => {}),
    )
  })
}

/** Adds a public random value that nobody could know before, so that the last participant could not choose the result. */
export async function applyBeacon(
  step: CeremonyStep & { readonly beacon: string; readonly iterationsExponent: number },
): Promise<string[]> {
  return addStep(step, async (from, to) => {
    const { beacon, iterationsExponent, onProgress } = step
    const hash = await zKey.beacon(from, to, 'beacon', beacon, iterationsExponent, loggerOf(onProgress))
    if (hash === false) throw new Error('the beacon was refused')
    return hash
  })
}

/**
 * Verifies that the last keys follow from the current sources, these powers of tau and the contributions on record, and
 * that there are enough contributions. The circuits are compiled again, because files in the folder prove nothing.
 * Throws when something is wrong.
 */
export async function verifyCeremony(ceremony: Verify): Promise<void> {
  await verifyEach(ceremony, async () => {})
}

/** Verifies again with the announced beacon, then writes an artifacts folder whose manifest says `ceremony`. */
export async function finishCeremony(
  ceremony: Verify & { readonly beacon: string; readonly into: string; readonly powBits: number },
): Promise<void> {
  const { circuits, into, powBits, onProgress } = ceremony
  if (await exists(into)) throw new Error(`${into} exists already`)
  const result = `${into}.part`
  await rm(result, { recursive: true, force: true })
  await mkdir(result, { recursive: true })
  const described: (readonly [CircuitName, CircuitArtifacts])[] = []
  await verifyEach({ ...ceremony, unfinished: false }, async (name, key, { r1csFile, witnessFile }) => {
    const files = filesOf(name)
    await copyFile(witnessFile, join(result, files.witness))
    await copyFile(key, join(result, files.provingKey))
    const { constraints } = readR1cs(await readFile(r1csFile))
    const artifacts = await describeCircuit(result, name, constraints)
    described.push([name, artifacts])
    onProgress(`ceremony: ${name} has the verification key hash ${artifacts.verificationKeyHash}`)
  })
  const sourcesHash = await hashSources(circuits)
  await writeManifest(result, { setup: 'ceremony', powBits, sourcesHash, circuits: described })
  await rename(result, into)
}

async function verifyEach(
  ceremony: Verify,
  use: (name: CircuitName, key: string, compiled: Compiled) => Promise<void>,
): Promise<void> {
  const { folder, powersOfTau, minContributions: min = contributionsMin, onProgress } = ceremony
  await comparePowersOfTau(powersOfTau)
  const latest = await latestStep(folder)
  const keyOf = (name: CircuitName) => join(folder, keyName(name, latest))
  // Records are quick to read, so all of them are checked before the slow compilation.
  const onRecord = new Map<CircuitName, readonly Contribution[]>()
  const asked = { min, beacon: ceremony.unfinished ? 'unfinished' : ceremony.beacon }
  for (const name of circuitNames) onRecord.set(name, judgeRecord(name, await readFile(keyOf(name)), asked))
  const beacon = oneBeacon(onRecord.values())
  if (ceremony.skipFirstPhase)
    onProgress('ceremony: the first phase is compared with its hash and not verified')
  else await verifyPowersOfTau(powersOfTau, onProgress)
  await eachCompiled(ceremony, async (name, compiled) => {
    const key = keyOf(name)
    const follows = await zKey.verifyFromR1cs(
      compiled.r1csFile,
      powersOfTau.file,
      key,
      loggerOf(() => {}),
    )
    if (!follows) {
      throw new Error(`${name}: the key does not follow from sources, powers of tau and contributions`)
    }
    await use(name, key, compiled)
    const contributions = onRecord.get(name) ?? []
    onProgress(`ceremony: ${name} is good, with ${contributions.length} contributions on record`)
    for (const [at, contribution] of contributions.entries()) onProgress(recordLine(at, contribution))
  })
  if (beacon === undefined) return onProgress('ceremony: there is no beacon yet; these keys are not for use')
  const compared = ceremony.beacon === undefined ? 'compare it with the announced one' : 'as announced'
  onProgress(`ceremony: the beacon comes last in all keys, ${inWords(beacon)}: ${compared}`)
}

const keyName = (name: CircuitName, step: number) => `${name}.${String(step).padStart(4, '0')}.zkey`

async function keyFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.zkey'))
}

/** The number of the last step that all circuits have. */
async function latestStep(folder: string): Promise<number> {
  const files = new Set(await keyFiles(folder))
  const complete = (step: number) => circuitNames.every((name) => files.has(keyName(name, step)))
  if (!complete(0)) throw new Error('the folder holds no ceremony: prepare one first')
  let step = 0
  while (complete(step + 1)) step++
  return step
}

async function addStep(
  { folder, onProgress }: CeremonyStep,
  make: (from: string, to: string) => Promise<Uint8Array>,
): Promise<string[]> {
  const latest = await latestStep(folder)
  const hashes: string[] = []
  for (const name of circuitNames) {
    const to = join(folder, keyName(name, latest + 1))
    // Renamed when complete, so that an interrupted step leaves no file that looks like a key.
    const hash = await make(join(folder, keyName(name, latest)), `${to}.part`)
    await rename(`${to}.part`, to)
    const hex = Buffer.from(hash).toString('hex')
    onProgress(`ceremony: ${name} step ${latest + 1}, contribution hash ${hex}`)
    hashes.push(hex)
  }
  return hashes
}

async function eachCompiled(
  { circuits, compileCircuit = compile, onProgress }: Prepare,
  use: (name: CircuitName, compiled: Compiled) => Promise<void>,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'svc-ceremony-'))
  try {
    await prepareSources(work)
    for (const name of circuitNames) {
      onProgress(`ceremony: compiling ${name}`)
      await use(name, await compileCircuit(work, name, circuits[name]))
    }
  } finally {
    await rm(work, { recursive: true })
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

function loggerOf(tell: (line: string) => void) {
  const silent = () => {}
  return { debug: silent, info: silent, warn: tell, error: tell }
}
