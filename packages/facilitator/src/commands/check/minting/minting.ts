/** Checks everything that can mint: the contracts' code, every contract that takes proofs, and earlier verifiers. */
import {
  hubRuntime,
  keyImmutables,
  type Runtime,
  readRuntime,
  tokenRuntime,
  verifierAbi,
  verifierRuntime,
} from '@svc-zerc20/contracts'
import { type Address, parseAddress, zeroAddress } from '@svc-zerc20/protocol'
import {
  batchCircuit,
  type CircuitArtifacts,
  keysRefused,
  type Manifest,
  neededCircuits,
} from '@svc-zerc20/zk'
import type { PartialConfig } from '../../../config/config.js'
import { type Finding, fail, warn } from '../../../config/finding.js'
import { limits } from '../../../config/limits.js'
import { conditionsMissing } from '../../../config/settings.js'
import type { ChainView } from '../chain-view.js'
import { readManifest } from './artifacts.js'
import { findArtifacts, type KeyHashes } from './find-artifacts.js'
import { type ProofVerifier, readProofVerifiers } from './proof-verifiers.js'

export type Minting = {
  readonly findings: Finding[]
  /** Folder of the proving keys: the configured one, or one whose keys match the verifier's. */
  readonly artifacts: string | undefined
  /** Bits of proof of work that these keys demand. */
  readonly powBits?: number
}

/** @param keyFolders Folders to search for the verifier's keys when the configuration names none. */
export async function probeMinting(
  view: ChainView,
  config: PartialConfig,
  keyFolders: readonly string[],
): Promise<Minting> {
  const { verifier } = config.network
  const configured = config.zerc20.artifacts
  if (verifier === undefined) return { findings: [], artifacts: configured }
  const [proofVerifiers, codes, predecessors] = await Promise.all([
    readProofVerifiers(view, verifier),
    judgeCodes(view, config),
    judgePredecessors(view, verifier),
  ])
  const mayUse = (manifest: Manifest) => keysRefused(manifest, conditionsMissing(config)) === undefined
  const artifacts = configured ?? (await findArtifacts(keyFolders, hashesOf(proofVerifiers), mayUse))
  const manifest = artifacts === undefined ? undefined : await readManifest(artifacts)
  // `probeArtifacts` reports a folder that cannot be read.
  const ofProofVerifiers = typeof manifest === 'object' ? judgeProofVerifiers(proofVerifiers, manifest) : []
  const ofMode = judgeMode(config, proofVerifiers, typeof manifest === 'object' ? manifest : undefined)
  const findings = [...codes, ...predecessors, ...ofProofVerifiers, ...ofMode]
  return { findings, artifacts, ...(typeof manifest === 'object' && { powBits: manifest.powBits }) }
}

/** An address of an epoch can be minted by batch proofs alone, so there must be keys for them, here and on the chain. */
function judgeMode(
  { finalize }: PartialConfig,
  proofVerifiers: readonly ProofVerifier[],
  manifest: Manifest | undefined,
): Finding[] {
  if (finalize.mode !== 'batch') return []
  const findings: Finding[] = []
  const cannot = (why: string) => findings.push(fail('finalize.mode', `is batch, but ${why}`))
  if (!proofVerifiers.some(({ circuit, address }) => circuit === batchCircuit && address !== undefined)) {
    cannot('the verifier on chain takes no batches: its owner sets batchVerifier first; use "single"')
  }
  if (manifest && manifest.circuits[batchCircuit] === undefined) {
    cannot('zerc20.artifacts has no keys of batch-withdraw: make them, or use "single"')
  }
  return findings
}

/** The verifier's key hash for each circuit; undefined unless it reports all that every deployment has. */
function hashesOf(proofVerifiers: readonly ProofVerifier[]): KeyHashes | undefined {
  const hashes = neededCircuits.map((name) => {
    const one = proofVerifiers.find(({ circuit, needed }) => circuit === name && needed)
    return [name, one?.keyHash] as const
  })
  if (hashes.some(([, hash]) => hash === undefined)) return undefined
  const ofBatches = proofVerifiers.find(({ circuit }) => circuit === batchCircuit)?.keyHash
  return { ...(Object.fromEntries(hashes) as KeyHashes), [batchCircuit]: ofBatches }
}

/** Tells the operator when the contracts' code is not ours, because then only their answers can be checked. */
async function judgeCodes(view: ChainView, { network }: PartialConfig): Promise<Finding[]> {
  const ours: readonly [string, Address | undefined, Runtime][] = [
    ['token', network.token, tokenRuntime],
    ['verifier', network.verifier, verifierRuntime],
    ['hub', network.hub, hubRuntime],
  ]
  const foreign = await Promise.all(
    ours.map(async ([name, address, runtime]) => {
      // Another finding reports an address without code.
      if (address === undefined || !(await view.hasCode(address))) return []
      return readRuntime(await view.code(address), runtime) === undefined ? [name] : []
    }),
  )
  const names = foreign.flat()
  if (names.length === 0) return []
  const message = `the code of ${names.join(', ')} is not that of this version: what else can mint there was not compared`
  return [warn('network.verifier', message)]
}

/** A verifier asks its predecessors what was minted. A predecessor that forgets would allow a second mint. */
async function judgePredecessors(view: ChainView, verifier: Address): Promise<Finding[]> {
  let at = verifier
  for (let count = 0; count < limits.predecessorsMax; count++) {
    const before = parseAddress(await view.read(at, verifierAbi, 'predecessor', []))
    if (before === undefined || before === zeroAddress) return []
    if (readRuntime(await view.code(before), verifierRuntime) === undefined) {
      const message = `counts on from ${before}, whose code is not that of this version: if it forgets what it minted, that can be minted again`
      return [warn('network.verifier', message)]
    }
    at = before
  }
  const message = `has more than ${limits.predecessorsMax} predecessors; the others were not compared`
  return [warn('network.verifier', message)]
}

/**
 * All keys on chain must be the folder's keys. With other keys, our proofs are refused and nothing is finalized. And a
 * key that only the chain has may have a maker who can mint without a burn.
 */
function judgeProofVerifiers(proofVerifiers: readonly ProofVerifier[], { circuits }: Manifest): Finding[] {
  const verdicts = proofVerifiers.map((one) => ({
    one,
    verdict: verdictOn(one, one.circuit && circuits[one.circuit]),
  }))
  const having = (wanted: Verdict) =>
    verdicts.filter(({ verdict }) => verdict === wanted).map(({ one }) => one)
  const findings: Finding[] = []
  const key = 'zerc20.artifacts'
  const differ = (message: string) => findings.push(fail(key, message))
  const other = having('other key')
  if (other.length > 0) {
    const names = [...new Set(other.map(({ circuit }) => circuit))]
    differ(`the verifier on chain checks proofs of ${names.join(', ')} with another key`)
  }
  for (const { name, address } of having('other code')) {
    differ(`${name} of the verifier is ${address}, whose code is not ours: it may take any proof for good`)
  }
  for (const { name, address } of having('surplus')) {
    differ(
      `${name} of the verifier is ${address}, for which the artifacts have no key: whoever can prove to it mints without a burn`,
    )
  }
  const silent = having('silent')
  if (silent.length > 0) {
    const names = silent.map(({ circuit }) => circuit).join(', ')
    const message = `the verifier does not tell which key proofs of ${names} are checked with; a wrong one finalizes nothing`
    findings.push(warn(key, message))
  }
  return findings
}

type Verdict = 'good' | 'other key' | 'other code' | 'surplus' | 'silent'

function verdictOn(one: ProofVerifier, expected: CircuitArtifacts | undefined): Verdict {
  if (expected === undefined) return 'surplus'
  const { immutables, keyHash, needed } = one
  if (immutables === undefined) {
    // Contracts that are not ours report no key hash.
    if (keyHash === undefined) return needed ? 'silent' : 'surplus'
    return keyHash === expected.verificationKeyHash ? 'other code' : 'other key'
  }
  // The hash alone is not enough: our code deployed with another constructor could report any hash.
  const { batch: _, ...found } = { batch: undefined, ...immutables }
  const { verificationKey, verificationKeyHash } = expected
  const wanted: Readonly<Record<string, string>> = { ...keyImmutables(verificationKey), verificationKeyHash }
  return Object.entries(found).every(([name, word]) => word === wanted[name]) ? 'good' : 'other key'
}
