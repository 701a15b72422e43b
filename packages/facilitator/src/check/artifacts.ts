/** Whether the proving keys are there, fit the deployment, and may be used here. */
import { verifierAbi, withdrawVerifierAbi } from '@svc-zerc20/contracts'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import {
  ArtifactError,
  type Artifacts,
  type CircuitName,
  circuitNames,
  type Manifest,
  readArtifacts,
  rootBatches,
  upstreamPowBits,
} from '@svc-zerc20/zk'
import type { PartialConfig } from '../config/config.js'
import type { Finding } from '../finding.js'
import { conditionsMissing } from '../secrets/secrets.js'
import type { ChainView } from './chain-view.js'

const key = 'zerc20.artifacts'

export async function probeArtifacts(config: PartialConfig): Promise<Finding[]> {
  const { artifacts, pow_bits: powBits, generation } = config.zerc20
  if (artifacts === undefined) {
    if (config.profile !== 'local') return []
    return [{ level: 'warn', key, message: 'not set: payments are accepted, but none is finalized' }]
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
  return [{ level: 'ok', key, message: `${manifest.setup} keys, ${manifest.powBits} bits` }, ...findings]
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

/**
 * Proofs made with other keys than the chain's are refused there, so nothing could be finalized; and whoever knows the
 * secrets of a key that only the chain has mints without a burn. Either way all of them must be the folder's.
 */
export async function probeProvingKey(view: ChainView, config: PartialConfig): Promise<Finding[]> {
  const { artifacts } = config.zerc20
  const { verifier } = config.network
  if (artifacts === undefined || verifier === undefined) return []
  const manifest = await readManifest(artifacts, async () => undefined)
  if (typeof manifest === 'string') return []
  const onChain = await Promise.all(circuitNames.map((name) => keyHashOnChain(view, verifier, name)))
  const circuitsWhere = (wanted: (hash: string | undefined, name: CircuitName) => boolean) =>
    circuitNames.filter((name, at) => wanted(onChain[at], name))
  const silent = circuitsWhere((hash) => hash === undefined)
  const other = circuitsWhere(
    (hash, name) => hash !== undefined && hash !== manifest.circuits[name].verificationKeyHash,
  )
  const findings: Finding[] = []
  if (other.length > 0) {
    const message = `the verifier on chain checks proofs of ${other.join(', ')} with another key`
    findings.push({ level: 'fail', key, message })
  }
  if (silent.length > 0) {
    const message = `the verifier does not tell which key proofs of ${silent.join(', ')} are checked with; a wrong one finalizes nothing`
    findings.push({ level: 'warn', key, message })
  }
  return findings
}

async function keyHashOnChain(
  view: ChainView,
  verifier: Address,
  circuit: CircuitName,
): Promise<string | undefined> {
  const found = parseAddress(await contractOf(view, verifier, circuit))
  return found && (await view.read(found, withdrawVerifierAbi, 'verificationKeyHash', []))
}

function contractOf(view: ChainView, verifier: Address, circuit: CircuitName): Promise<string | undefined> {
  switch (circuit) {
    case 'withdraw-local':
      return view.read(verifier, verifierAbi, 'singleWithdrawLocalVerifier', [])
    case 'withdraw-global':
      return view.read(verifier, verifierAbi, 'singleWithdrawGlobalVerifier', [])
    default:
      return view.read(verifier, verifierAbi, 'rootVerifiers', [rootBatches[circuit]])
  }
}

/** Reading compares files with their hashes, and keys of a ceremony with the contributions that the manifest lists. */
async function readFiles({ manifest, read }: Artifacts): Promise<void> {
  // Mints need one circuit; but a single key that was not made in the ceremony is enough to forge on chain.
  const proving = manifest.setup === 'ceremony' ? circuitNames : (['withdraw-local'] as const)
  await Promise.all([read('withdraw-local', 'witness'), ...proving.map((name) => read(name, 'provingKey'))])
}

async function readManifest(
  folder: string,
  look: (artifacts: Artifacts) => Promise<void>,
): Promise<Manifest | string> {
  try {
    const artifacts = await readArtifacts(folder)
    await look(artifacts)
    return artifacts.manifest
  } catch (err) {
    if (err instanceof ArtifactError) return err.message
    throw err
  }
}
