/** Checks everything that can mint: the contracts' code, every slot for proofs, and earlier verifiers. */
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
import { batchCircuit, type CircuitArtifacts, type Manifest, neededCircuits } from '@svc-zerc20/zk'
import type { PartialConfig } from '../../../config/config.js'
import type { Finding } from '../../../config/finding.js'
import { conditionsMissing } from '../../../config/settings.js'
import type { ChainView } from '../chain-view.js'
import { checkLimits } from '../limits.js'
import { readManifest } from './artifacts.js'
import { findArtifacts, type KeyHashes } from './find-artifacts.js'
import { type ProofSlot, readProofSlots } from './proof-slots.js'

export type Minting = {
  readonly findings: Finding[]
  /** Folder of the proving keys: the configured one, or one whose keys match the verifier's. */
  readonly artifacts: string | undefined
  /** Bits of proof of work that these keys demand. */
  readonly powBits?: number
}

/** @param places Folders to search for the verifier's keys when the configuration names none. */
export async function probeMinting(
  view: ChainView,
  config: PartialConfig,
  places: readonly string[],
): Promise<Minting> {
  const { verifier } = config.network
  const configured = config.zerc20.artifacts
  if (verifier === undefined) return { findings: [], artifacts: configured }
  const [slots, codes, predecessors] = await Promise.all([
    readProofSlots(view, verifier),
    judgeCodes(view, config),
    judgePredecessors(view, verifier),
  ])
  const mayUse = ({ setup }: Manifest) => setup === 'ceremony' || conditionsMissing(config).length === 0
  const artifacts = configured ?? (await findArtifacts(places, hashesOf(slots), mayUse))
  const manifest = artifacts === undefined ? undefined : await readManifest(artifacts)
  // `probeArtifacts` reports a folder that cannot be read.
  const ofSlots = typeof manifest === 'object' ? judgeSlots(slots, manifest) : []
  const ofMode = judgeMode(config, slots, typeof manifest === 'object' ? manifest : undefined)
  const findings = [...codes, ...predecessors, ...ofSlots, ...ofMode]
  return { findings, artifacts, ...(typeof manifest === 'object' && { powBits: manifest.powBits }) }
}

/** An address of an epoch can be minted by batch proofs alone, so there must be keys for them, here and on the chain. */
function judgeMode(
  { finalize, zerc20 }: PartialConfig,
  slots: readonly ProofSlot[],
  manifest: Manifest | undefined,
): Finding[] {
  if (finalize.mode !== 'batch') return []
  const fail = (why: string): Finding => ({
    level: 'fail',
    key: 'finalize.mode',
    message: `is batch, but ${why}`,
  })
  const findings: Finding[] = []
  if (!slots.some(({ circuit, address }) => circuit === batchCircuit && address !== undefined)) {
    findings.push(
      fail('the verifier on chain takes no batches: its owner sets batchVerifier first; use "single"'),
    )
  }
  if (manifest && manifest.circuits[batchCircuit] === undefined) {
    findings.push(fail('zerc20.artifacts has no keys of batch-withdraw: make them, or use "single"'))
  }
  if (zerc20.generation !== undefined && zerc20.generation !== 2) {
    findings.push(fail(`zerc20.generation is ${zerc20.generation}: batches are proved for generation 2 only`))
  }
  return findings
}

/** The verifier's key hash for each circuit; undefined unless it reports all that every deployment has. */
function hashesOf(slots: readonly ProofSlot[]): KeyHashes | undefined {
  const hashes = neededCircuits.map((name) => {
    const slot = slots.find(({ circuit, needed }) => circuit === name && needed)
    return [name, slot?.keyHash] as const
  })
  if (hashes.some(([, hash]) => hash === undefined)) return undefined
  const ofBatches = slots.find(({ circuit }) => circuit === batchCircuit)?.keyHash
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
  return [{ level: 'warn', key: 'network.verifier', message }]
}

/** A verifier asks its predecessors what was minted. A predecessor that forgets would allow a second mint. */
async function judgePredecessors(view: ChainView, verifier: Address): Promise<Finding[]> {
  let at = verifier
  for (let count = 0; count < checkLimits.predecessorsMax; count++) {
    const before = parseAddress(await view.read(at, verifierAbi, 'predecessor', []))
    if (before === undefined || before === zeroAddress) return []
    if (readRuntime(await view.code(before), verifierRuntime) === undefined) {
      const message = `counts on from ${before}, whose code is not that of this version: if it forgets what it minted, that can be minted again`
      return [{ level: 'warn', key: 'network.verifier', message }]
    }
    at = before
  }
  const message = `has more than ${checkLimits.predecessorsMax} predecessors; the others were not compared`
  return [{ level: 'warn', key: 'network.verifier', message }]
}

/**
 * All keys on chain must be the folder's keys. With other keys, our proofs are refused and nothing is finalized. And a
 * key that only the chain has may have a maker who can mint without a burn.
 */
function judgeSlots(slots: readonly ProofSlot[], { circuits }: Manifest): Finding[] {
  const verdicts = slots.map((slot) => ({
    slot,
    verdict: verdictOn(slot, slot.circuit && circuits[slot.circuit]),
  }))
  const having = (wanted: Verdict) =>
    verdicts.filter(({ verdict }) => verdict === wanted).map(({ slot }) => slot)
  const findings: Finding[] = []
  const fail = (message: string) => findings.push({ level: 'fail', key: 'zerc20.artifacts', message })
  const other = having('other key')
  if (other.length > 0) {
    const names = [...new Set(other.map(({ circuit }) => circuit))]
    fail(`the verifier on chain checks proofs of ${names.join(', ')} with another key`)
  }
  for (const { name, address } of having('other code')) {
    fail(`${name} of the verifier is ${address}, whose code is not ours: it may take any proof for good`)
  }
  for (const { name, address } of having('surplus')) {
    fail(
      `${name} of the verifier is ${address}, for which the artifacts have no key: whoever can prove to it mints without a burn`,
    )
  }
  const silent = having('silent')
  if (silent.length > 0) {
    const names = silent.map(({ circuit }) => circuit).join(', ')
    const message = `the verifier does not tell which key proofs of ${names} are checked with; a wrong one finalizes nothing`
    findings.push({ level: 'warn', key: 'zerc20.artifacts', message })
  }
  return findings
}

type Verdict = 'good' | 'other key' | 'other code' | 'surplus' | 'silent'

function verdictOn(slot: ProofSlot, expected: CircuitArtifacts | undefined): Verdict {
  if (expected === undefined) return 'surplus'
  const { immutables, keyHash, needed } = slot
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
