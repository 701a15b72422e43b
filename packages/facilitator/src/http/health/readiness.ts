/**
 * The problems that keep the daemon from taking payments now. Pure: facts in, problems out, one judge for each part. The
 * words say nothing a stranger should not know: no URL, no address, no balance.
 */
import type { ChainView } from '../../chain/probe.js'

export type ReadinessProblem = {
  readonly part: 'chain' | 'clock' | 'relayer' | 'addresses' | 'ledger'
  readonly problem: string
}

/** Looks at one part. Each part that affects readiness adds a probe. */
export type ReadinessProbe = () => readonly ReadinessProblem[] | Promise<readonly ReadinessProblem[]>

/** All parts at once, in order. */
export async function askAll(probes: readonly ReadinessProbe[]): Promise<readonly ReadinessProblem[]> {
  return (await Promise.all(probes.map((probe) => probe()))).flat()
}

export function judgeChain(chain: ChainView, chainId: number): ReadinessProblem[] {
  if (!chain.reachable) return [{ part: 'chain', problem: 'the RPC does not answer' }]
  return chain.chainId === chainId ? [] : [{ part: 'chain', problem: 'the RPC serves another chain' }]
}

export function judgeRelayer(
  chain: ChainView,
  /** Units of gas that must be paid for: burns by the relayer, mints by the minter when it has a key. */
  relays: readonly { readonly what: 'burn' | 'mint'; readonly gas: bigint }[],
): ReadinessProblem[] {
  if (!chain.reachable) return []
  const { relayerBalance, minterBalance } = chain
  const unpaid = relays.find(({ what, gas }) => {
    const balance = what === 'mint' ? (minterBalance ?? relayerBalance) : relayerBalance
    return balance < gas * chain.feePerGas
  })
  if (!unpaid) return []
  const who = unpaid.what === 'mint' && minterBalance !== undefined ? 'minter' : 'relayer'
  return [{ part: 'relayer', problem: `the ${who} cannot pay for a ${unpaid.what}` }]
}

/** A small difference is ordinary. A difference of half a challenge's life is a problem. */
export function judgeClock(skewSeconds: number | undefined, skewSecondsMax: number): ReadinessProblem[] {
  if (skewSeconds === undefined || Math.abs(skewSeconds) <= skewSecondsMax) return []
  return [
    skewSeconds < 0
      ? { part: 'clock', problem: "this machine's clock is behind the chain" }
      : { part: 'clock', problem: "this machine's clock is ahead of the chain, or the node lags" },
  ]
}

export const judgeAddresses = (ready: number): ReadinessProblem[] =>
  ready > 0 ? [] : [{ part: 'addresses', problem: 'no burn address is ready' }]

export function judgeJournal(facts: {
  /** Its file was removed or replaced under the daemon. */
  readonly isLost: boolean
  /** The last write failed, and none succeeded since. */
  readonly hasFailed: boolean
  /** Undefined when the system does not tell. */
  readonly freeBytes: number | undefined
  readonly freeBytesMin: number
}): ReadinessProblem[] {
  if (facts.isLost) return [{ part: 'ledger', problem: 'the journal is gone from its place' }]
  if (facts.hasFailed) return [{ part: 'ledger', problem: 'the ledger cannot be written' }]
  const isFull = facts.freeBytes !== undefined && facts.freeBytes < facts.freeBytesMin
  return isFull ? [{ part: 'ledger', problem: 'the disk under the journal is nearly full' }] : []
}
