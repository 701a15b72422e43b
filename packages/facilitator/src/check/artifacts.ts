/** Whether the proving keys are there, fit the deployment, and may be used here. */
import {
  ArtifactError,
  type Artifacts,
  circuitNames,
  type Manifest,
  readArtifacts,
  upstreamPowBits,
} from '@svc-zerc20/zk'
import type { PartialConfig } from '../config/config.js'
import type { Finding } from '../finding.js'
import { conditionsMissing } from '../secrets/secrets.js'

const key = 'zerc20.artifacts'

/** @param artifacts The folder that the configuration names, or the one that was found. */
export async function probeArtifacts(
  config: PartialConfig,
  artifacts: string | undefined,
): Promise<Finding[]> {
  const { pow_bits: powBits, generation } = config.zerc20
  if (artifacts === undefined) {
    if (config.profile !== 'local') return []
    const message =
      'not set, and no folder with the keys of the verifier was found: payments are accepted, but none is finalized'
    return [{ level: 'warn', key, message }]
  }
  const manifest = await readManifest(artifacts, readFiles)
  if (typeof manifest === 'string') return [{ level: 'fail', key, message: manifest }]
  const findings: Finding[] = []
  if (manifest.setup === 'development') findings.push(judgeDevelopmentSetup(config))
  else findings.push(...judgeProofOfWork(config, manifest))
  if (powBits !== undefined && powBits < manifest.powBits) {
    const message = `is ${powBits}, but the circuits demand ${manifest.powBits}: burns could never be minted`
    findings.push({ level: 'fail', key: 'zerc20.pow_bits', message })
  }
  if (generation !== undefined && generation !== manifest.generation) {
    const message = `is ${generation}, but the keys are for generation ${manifest.generation}`
    findings.push({ level: 'fail', key: 'zerc20.generation', message })
  }
  if (findings.some(({ level }) => level === 'fail')) return findings
  const found = config.zerc20.artifacts === undefined ? '; found by the hashes of the verifier’s keys' : ''
  const message = `${manifest.setup} keys, ${manifest.powBits} bits, in ${artifacts}${found}`
  return [{ level: 'ok', key, message }, ...findings]
}

/** Whoever made development keys can mint without burning, as whoever knows a private key can spend. */
function judgeDevelopmentSetup(config: PartialConfig): Finding {
  const missing = conditionsMissing(config)
  if (missing.length === 0) {
    return { level: 'warn', key, message: 'keys of a development setup; whoever made them can forge mints' }
  }
  return { level: 'fail', key, message: `keys of a development setup, which need ${missing.join(' and ')}` }
}

/** The address of a burn is short for a hash; the work makes up for it where others have accounts. */
function judgeProofOfWork(config: PartialConfig, { powBits, generation }: Manifest): Finding[] {
  const usual = upstreamPowBits[generation]
  if (powBits >= usual || conditionsMissing(config).length === 0) return []
  const message = `the circuits demand ${powBits} bits of proof of work, where ${usual} are usual: an address that is both a burn and somebody's account is easier to find`
  return [{ level: 'warn', key, message }]
}

/** Reading compares files with their hashes, and keys of a ceremony with the contributions that the manifest lists. */
async function readFiles({ manifest, read }: Artifacts): Promise<void> {
  // Mints need one circuit; but a single key that was not made in the ceremony is enough to forge on chain.
  const proving = manifest.setup === 'ceremony' ? circuitNames : (['withdraw-local'] as const)
  await Promise.all([read('withdraw-local', 'witness'), ...proving.map((name) => read(name, 'provingKey'))])
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
