/**
 * Whether the chain answers, and what the relayer can pay. One round trip, and at most one in `freshMs` however
 * many ask: probing costs the node nothing while nobody looks.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import { type JsonRpc, quantityOf } from './json-rpc.js'

export type ChainView =
  | {
      readonly reachable: true
      readonly chainId: number
      readonly headNumber: bigint
      /** Wei. */
      readonly relayerBalance: bigint
      readonly feePerGas: bigint
    }
  | { readonly reachable: false }

export type ChainProbe = {
  /** Not older than `freshMs`; a node that takes longer than `waitMs` counts as out of reach. */
  look(): Promise<ChainView>
  /** What was seen last, however old; undefined before the first look. */
  last(): ChainView | undefined
}

export function createChainProbe(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  relayer: Address
  clock: Clock
  freshMs: number
  waitMs: number
}): ChainProbe {
  const { rpc, clock } = deps
  let seen: { readonly view: ChainView; readonly atMs: number } | undefined
  let looking: Promise<ChainView> | undefined

  async function ask(): Promise<ChainView> {
    try {
      const [chainId, headNumber, balance, feePerGas] = await rpc.batch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_blockNumber', params: [] },
        { method: 'eth_getBalance', params: [deps.relayer, 'latest'] },
        { method: 'eth_gasPrice', params: [] },
      ])
      return {
        reachable: true,
        chainId: Number(quantityOf('eth_chainId', chainId)),
        headNumber: quantityOf('eth_blockNumber', headNumber),
        relayerBalance: quantityOf('eth_getBalance', balance),
        feePerGas: quantityOf('eth_gasPrice', feePerGas),
      }
    } catch {
      // Whoever works with the node reports its failures; here they are the answer.
      return { reachable: false }
    }
  }

  async function lookNow(): Promise<ChainView> {
    const answered = new AbortController()
    const late = clock.sleep(deps.waitMs, answered.signal).then(() => ({ reachable: false }) as const)
    const view = await Promise.race([ask(), late]).finally(() => answered.abort())
    seen = { view, atMs: clock.now() }
    looking = undefined
    return view
  }

  return {
    async look() {
      if (looking) return looking
      if (seen && clock.now() - seen.atMs < deps.freshMs) return seen.view
      looking = lookNow()
      return looking
    },
    last: () => seen?.view,
  }
}
