/** Checks the node, its chain, the clock and the balances of our accounts in one round trip. */
import { tokenAbi } from '@svc-zerc20/contracts'
import { quantityOf } from '@svc-zerc20/evm'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok, outage, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import type { ChainView } from './chain-view.js'
import { probeContracts } from './contracts.js'
import { type KeyAddresses, probeFee } from './fee.js'
import { judgeCosts, probeFunds } from './funds.js'
import { type Minting, probeMinting } from './minting/minting.js'

export async function probeChain(deps: {
  /** Undefined while the configuration names no RPC. */
  view: ChainView | undefined
  config: PartialConfig
  /** The addresses of the keys; undefined when one is missing or malformed. */
  keys: KeyAddresses
  clock: Pick<Clock, 'now'>
  /** Folders to search for proving keys when the configuration names none. */
  keyFolders: readonly string[]
}): Promise<Minting> {
  const { view, keys } = deps
  const nothing: Minting = { findings: [], artifacts: deps.config.zerc20.artifacts }
  if (!view) return nothing
  const [chain, contracts, fee, minting, funds, costs] = await Promise.all([
    probeNode(view, deps.config, deps.clock).catch((error) => ({
      findings: [unanswered(error)],
      wrongChain: false,
    })),
    probeContracts(view, deps.config).catch((error) => [unanswered(error)]),
    probeFee(view, deps.config, keys).catch((error) => [unanswered(error)]),
    probeMinting(view, deps.config, deps.keyFolders).catch((error) => ({
      ...nothing,
      findings: [unanswered(error)],
    })),
    probeFunds(view, deps.config, keys).catch((error) => [unanswered(error)]),
    probeCosts(view, deps.config).catch(unanswered),
  ])
  // On the wrong chain, answers from these addresses mean nothing, so nothing more is asked.
  if (chain.wrongChain) return { ...nothing, findings: chain.findings }
  const findings = [...chain.findings, ...contracts, ...fee, ...minting.findings, ...funds, costs]
  return { ...minting, findings: withOneOutage(findings) }
}

function unanswered(error: unknown): Finding {
  if (!(error instanceof SvcError)) throw error
  return outage('network.rpc_url', error.message)
}

/** A node that does not answer fails every question, perhaps each in other words: that is one problem. */
function withOneOutage(findings: readonly Finding[]): Finding[] {
  const isOutage = ({ key, start }: Finding) => key === 'network.rpc_url' && start === 'later'
  const first = findings.find(isOutage)
  return findings.filter((finding) => finding === first || !isOutage(finding))
}

async function probeNode(
  view: ChainView,
  { network, settlement, profile }: PartialConfig,
  clock: Pick<Clock, 'now'>,
): Promise<{ findings: Finding[]; wrongChain: boolean }> {
  const [reported, block] = await Promise.all([
    view.quantity('eth_chainId', []),
    view.ask('eth_getBlockByNumber', ['latest', false]),
  ])
  const chainId = Number(reported)
  if (network.chain_id !== undefined && chainId !== network.chain_id) {
    const message = `is ${network.chain_id}, but the RPC reports ${chainId}; the contracts were not checked`
    return { findings: [fail('network.chain_id', message)], wrongChain: true }
  }
  const { timestamp, number } = (block ?? {}) as { timestamp?: unknown; number?: unknown }
  const head = numberOf('eth_getBlockByNumber', number)
  const behindSeconds = numberOf('eth_getBlockByNumber', timestamp) - Math.floor(clock.now() / 1000)
  const answered = ok('network.rpc_url', `chain ${chainId}, newest block ${head}`)
  const time = judgeTime({
    behindSeconds,
    ttlSeconds: settlement.challenge_ttl_seconds ?? 0,
    // Local chains mine on demand, so the age of the newest block says nothing about clocks.
    onDemand: profile === 'local',
  })
  return { findings: [answered, ...time], wrongChain: false }
}

/** Compares our clock with the chain's. Challenges expire by both, so a large difference refuses good payments. */
export function judgeTime(facts: {
  behindSeconds: number
  ttlSeconds: number
  onDemand: boolean
}): Finding[] {
  const key = 'clock'
  const { behindSeconds, ttlSeconds } = facts
  const failSeconds = Math.max(ttlSeconds / 2, limits.clockSkewSecondsMin)
  if (behindSeconds > limits.clockBehindWarnSeconds) {
    const message = `this machine is ${behindSeconds} s behind the chain; set its clock`
    return [behindSeconds > failSeconds ? outage(key, message) : warn(key, message)]
  }
  const age = -behindSeconds
  if (facts.onDemand || age <= limits.blockAgeWarnSeconds) return []
  const message = `the newest block is ${age} s old: the node lags, the chain stands, or this machine's clock is ahead`
  return [age > Math.max(failSeconds, limits.blockAgeWarnSeconds) ? outage(key, message) : warn(key, message)]
}

async function probeCosts(view: ChainView, config: PartialConfig): Promise<Finding> {
  const { token } = config.network
  const [gasPrice, decimals] = await Promise.all([
    view.quantity('eth_gasPrice', []),
    token && view.read(token, tokenAbi, 'decimals', []),
  ])
  return judgeCosts(config, gasPrice, decimals)
}

const numberOf = (method: string, result: unknown): number => Number(quantityOf(method, { result }))
