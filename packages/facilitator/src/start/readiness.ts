/** What keeps the daemon from taking payments right now. Pure: facts in, problems out. */
import type { ChainView } from '../adapters/chain-probe.js'

export type ReadinessFacts = {
  readonly chain: ChainView
  readonly chainId: number
  /** Gas money for one burn, in units of gas; undefined when nothing is relayed. */
  readonly burnGas: bigint | undefined
  readonly addressesReady: number
  /** A journal that was refused by the disk a moment ago. */
  readonly journalFailed: boolean
  /** Its file was removed or replaced under the daemon. */
  readonly journalLost: boolean
}

export type ReadinessProblem = {
  readonly part: 'chain' | 'relayer' | 'addresses' | 'journal'
  readonly problem: string
}

/** The words say nothing a stranger should not know: no URL, no address, no balance. */
export function judgeReadiness(facts: ReadinessFacts): ReadinessProblem[] {
  const problems: ReadinessProblem[] = []
  const { chain, burnGas } = facts
  if (!chain.reachable) problems.push({ part: 'chain', problem: 'the RPC does not answer' })
  else if (chain.chainId !== facts.chainId) {
    problems.push({ part: 'chain', problem: 'the RPC serves another chain' })
  } else if (burnGas !== undefined && chain.relayerBalance < burnGas * chain.feePerGas) {
    problems.push({ part: 'relayer', problem: 'the relayer cannot pay for a burn' })
  }
  if (facts.addressesReady === 0) problems.push({ part: 'addresses', problem: 'no burn address is ready' })
  if (facts.journalLost) problems.push({ part: 'journal', problem: 'the journal is gone from its place' })
  else if (facts.journalFailed) problems.push({ part: 'journal', problem: 'the journal cannot be written' })
  return problems
}
