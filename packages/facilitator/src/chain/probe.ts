/**
 * Whether the chain answers, and what the relayer and the minter can pay. A probe is one round trip, and there is at most
 * one in `limits.probeFreshMs`, however many ask. While nobody asks, the node is not probed.
 *
 * A slow node is not down. While its answer is on the way, the last view counts: payments
 * wait for the node just as long, and succeed. A node is down when it refuses several times in a row, or when
 * its answer never comes.
 */
import { type JsonRpc, latestCall, quantityOf, readTimedBlock } from '@svc-zerc20/evm'
import { type Address, type Clock, inTime, SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'

export type ChainView =
  | {
      readonly reachable: true
      readonly chainId: number
      readonly headNumber: bigint
      /** Unix seconds. */
      readonly headTimestamp: number
      /** Wei. */
      readonly relayerBalance: bigint
      /** Wei of the account that sends mints; absent when the relayer sends them. */
      readonly minterBalance?: bigint
      readonly feePerGas: bigint
      readonly roundTripMs: number
    }
  | { readonly reachable: false }

export type ChainProbe = ReturnType<typeof createChainProbe>

const attemptsMax = 4
const attemptPauseMs = 50

export function createChainProbe(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  relayer: Address
  /** The account that sends mints, when it is not the relayer. */
  minter?: Address | undefined
  clock: Clock
  /** Hears of every answer. */
  onAnswer: (view: Extract<ChainView, { reachable: true }>) => void
}) {
  const { rpc, clock } = deps
  let seen: { readonly view: ChainView; readonly atMs: number } | undefined
  let asking: Promise<ChainView> | undefined

  async function ask(): Promise<Extract<ChainView, { reachable: true }>> {
    const startedAtMs = clock.now()
    const balanceOf = (account: Address) => ({ method: 'eth_getBalance', params: [account, 'latest'] })
    const [chainId, head, balance, feePerGas, minterBalance] = await rpc.batch([
      { method: 'eth_chainId', params: [] },
      latestCall,
      balanceOf(deps.relayer),
      { method: 'eth_gasPrice', params: [] },
      ...(deps.minter === undefined ? [] : [balanceOf(deps.minter)]),
    ])
    const block = readTimedBlock(head)
    if (!block) throw new SvcError('rpc_error', 'the node has no newest block')
    return {
      reachable: true,
      chainId: Number(quantityOf('eth_chainId', chainId)),
      headNumber: block.number,
      headTimestamp: block.time,
      relayerBalance: quantityOf('eth_getBalance', balance),
      ...(minterBalance && { minterBalance: quantityOf('eth_getBalance', minterBalance) }),
      feePerGas: quantityOf('eth_gasPrice', feePerGas),
      roundTripMs: clock.now() - startedAtMs,
    }
  }

  /** A node that fails now and then is asked again at once, as every other part of the daemon does. */
  async function askAgain(): Promise<ChainView> {
    const giveUpAtMs = clock.now() + limits.probeWaitMs
    for (let attempt = 1; ; attempt++) {
      try {
        const view = await ask()
        deps.onAnswer(view)
        return view
      } catch {
        // Other users of the node report its failures. Here a failure is the answer.
        if (attempt >= attemptsMax || clock.now() >= giveUpAtMs) return { reachable: false }
        await clock.sleep(attemptPauseMs)
      }
    }
  }

  async function askOnce(): Promise<ChainView> {
    const view = await askAgain()
    seen = { view, atMs: clock.now() }
    asking = undefined
    return view
  }

  return {
    /** Resolves within `limits.probeWaitMs`; not older than `limits.probeFreshMs` unless the node is slow. */
    async view(): Promise<ChainView> {
      const ageMs = seen ? clock.now() - seen.atMs : -1
      // A clock that was set back makes every view look new.
      if (!asking && seen && ageMs >= 0 && ageMs < limits.probeFreshMs) return seen.view
      asking ??= askOnce()
      const view = await inTime(asking, limits.probeWaitMs, clock)
      if (view !== 'late') return view
      return seen?.view ?? { reachable: false }
    },
    /** The last view, however old; undefined before the first look. */
    last: () => seen?.view,
  }
}
