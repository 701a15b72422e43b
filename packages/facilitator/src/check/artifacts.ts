/** Whether the proving keys are there, fit the deployment, and may be used here. */
import { verifierAbi, withdrawVerifierAbi } from '@svc-zerc20/contracts'
import { parseAddress } from '@svc-zerc20/protocol'
import { ArtifactError, type Manifest, readArtifacts } from '@svc-zerc20/zk'
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
  const manifest = await readManifest(artifacts)
  if (typeof manifest === 'string') return [{ level: 'fail', key, message: manifest }]
  const findings: Finding[] = []
  if (manifest.setup === 'development') findings.push(judgeDevelopmentSetup(config))
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

/** Proofs made with other keys than the chain's are refused there, so nothing could be finalized. */
export async function probeProvingKey(view: ChainView, config: PartialConfig): Promise<Finding[]> {
  const { artifacts } = config.zerc20
  const { verifier } = config.network
  if (artifacts === undefined || verifier === undefined) return []
  const manifest = await readManifest(artifacts)
  if (typeof manifest === 'string') return []
  const withdrawVerifier = parseAddress(
    await view.read(verifier, verifierAbi, 'singleWithdrawLocalVerifier', []),
  )
  const onChain =
    withdrawVerifier && (await view.read(withdrawVerifier, withdrawVerifierAbi, 'verificationKeyHash', []))
  if (onChain === manifest.circuits['withdraw-local'].verificationKeyHash) return []
  if (onChain === undefined) {
    const message =
      'the verifier does not tell which key its proofs are checked with; a wrong one finalizes nothing'
    return [{ level: 'warn', key, message }]
  }
  return [{ level: 'fail', key, message: 'the verifier on chain checks proofs with another key' }]
}

async function readManifest(folder: string): Promise<Manifest | string> {
  try {
    const { manifest, read } = await readArtifacts(folder)
    // The parts that mints need; reading compares them with their hashes.
    await Promise.all([read('withdraw-local', 'witness'), read('withdraw-local', 'provingKey')])
    return manifest
  } catch (err) {
    if (err instanceof ArtifactError) return err.message
    throw err
  }
}
