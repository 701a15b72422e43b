/** Checks that the proving keys exist, fit the deployment, and may be used with this profile. */
import {
  ArtifactError,
  type Artifacts,
  batchCircuit,
  type CircuitName,
  circuitsIn,
  keysRefused,
  type Manifest,
  readArtifacts,
  upstreamPowBits,
} from '@svc-zerc20/zk'
import type { PartialConfig } from '../../../config/config.js'
import { type Finding, fail, isFailure, ok, warn } from '../../../config/finding.js'
import { conditionsMissing } from '../../../config/settings.js'

const key = 'zerc20.artifacts'

/** @param artifacts The folder that the configuration names, or the one that was found. */
export async function probeArtifacts(
  config: PartialConfig,
  artifacts: string | undefined,
): Promise<Finding[]> {
  const { pow_bits: powBits } = config.zerc20
  if (artifacts === undefined) {
    if (config.profile !== 'local') return []
    const message =
      'not set, and no folder with the keys of the verifier was found: payments are accepted, but none is finalized'
    return [warn(key, message)]
  }
  const minting = config.finalize.mode === 'batch' ? mintingCircuits : (['withdraw-local'] as const)
  const manifest = await readManifest(artifacts, (found) => readFiles(found, minting))
  if (typeof manifest === 'string') return [fail(key, manifest)]
  const findings: Finding[] = []
  if (manifest.setup === 'development') findings.push(judgeDevelopmentSetup(config, manifest))
  else findings.push(...judgeProofOfWork(config, manifest))
  if (powBits !== undefined && powBits < manifest.powBits) {
    const message = `is ${powBits}, but the circuits demand ${manifest.powBits}: burns could never be minted`
    findings.push(fail('zerc20.pow_bits', message))
  }
  if (powBits !== undefined && powBits > manifest.powBits) {
    const message = `is ${powBits}; the proving keys demand only ${manifest.powBits} bits, and every further one doubles the work`
    findings.push(warn('zerc20.pow_bits', message))
  }
  if (findings.some(isFailure)) return findings
  const found = config.zerc20.artifacts === undefined ? '; found by the hashes of the verifier’s keys' : ''
  const message = `${manifest.setup} keys, ${manifest.powBits} bits, in ${artifacts}${found}`
  return [ok(key, message), ...findings]
}

/** The maker of development keys can mint without burning, so they are allowed on a local chain only. */
function judgeDevelopmentSetup(config: PartialConfig, manifest: Manifest): Finding {
  const refused = keysRefused(manifest, conditionsMissing(config))
  return refused === undefined
    ? warn(key, 'keys of a development setup; whoever made them can forge mints')
    : fail(key, refused)
}

/** An address has only 160 bits of its hash. On a public chain, proof of work must make up for the missing strength. */
function judgeProofOfWork(config: PartialConfig, { powBits, generation }: Manifest): Finding[] {
  const usual = upstreamPowBits[generation]
  if (powBits >= usual || conditionsMissing(config).length === 0) return []
  const message = `the circuits demand ${powBits} bits of proof of work, where ${usual} are usual: an address that is both a burn and somebody's account is easier to find`
  return [warn(key, message)]
}

/** Circuits of mints where payments are minted together. One whose address belongs to no epoch is minted alone. */
const mintingCircuits = ['withdraw-local', batchCircuit] as const

/** Reads the files, which compares them with their hashes, and ceremony keys with the manifest's contributions. */
async function readFiles({ manifest, read }: Artifacts, minting: readonly CircuitName[]): Promise<void> {
  const present = circuitsIn(manifest)
  // `probeMinting` reports a circuit that mints need and the folder lacks.
  const needed = minting.filter((name) => present.includes(name))
  // Mints need few circuits. But one key from outside the ceremony is enough to forge, so all of them are read.
  const proving = manifest.setup === 'ceremony' ? present : needed
  await Promise.all([
    ...needed.map((name) => read(name, 'witness')),
    ...proving.map((name) => read(name, 'provingKey')),
  ])
}

/** The manifest of a folder, or why there is none. */
export async function readManifest(
  folder: string,
  look?: (artifacts: Artifacts) => Promise<void>,
): Promise<Manifest | string> {
  try {
    const artifacts = await readArtifacts(folder)
    await look?.(artifacts)
    return artifacts.manifest
  } catch (err) {
    if (err instanceof ArtifactError) return err.message
    throw err
  }
}
