/** Keeps those transfers that went to an issued address and that the ledger has not accepted. */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'
import type { Challenge } from '../../payment/records.js'
import type { FollowEvent } from '../../telemetry/reports.js'
import type { IssuedStore } from './issued-store.js'
import type { PlacedTransfer, TokenChain } from './token-chain.js'

/**
 * `toPlaced` is asked only for transfers to issued addresses; it may read the chain. Throws `SvcError('block_moved')`
 * when a reorg took the block of one of them meanwhile.
 */
export type TakeTransfers = <T extends { readonly to: Address }>(
  transfers: readonly T[],
  toPlaced: (transfer: T) => Promise<PlacedTransfer>,
) => Promise<void>

export function createTakeTransfers(deps: {
  readonly store: Pick<IssuedStore, 'find' | 'putTransfer'>
  readonly ledger: Pick<Ledger, 'find'>
  readonly chain: Pick<TokenChain, 'block'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: FollowEvent) => void
}): TakeTransfers {
  const { store, ledger, chain } = deps

  async function take(challenge: Challenge, transfer: PlacedTransfer): Promise<void> {
    const { to, ...burn } = transfer
    const { accepted } = (await ledger.find(challenge.nonce)) ?? {}
    const isAccounted = accepted?.burn.txHash === burn.txHash && accepted.burn.leafIndex === burn.leafIndex
    if (isAccounted) return
    const block = await chain.block(Number(burn.blockNumber))
    if (block?.hash !== burn.blockHash) throw moved(burn.blockNumber)
    const now = Math.floor(deps.clock.now() / 1000)
    const outcome = await store.putTransfer(to, { ...burn, minedAt: block.time }, now)
    if (outcome === 'full') {
      deps.report({ event: 'follow.dust', challengeNonce: challenge.nonce, txHash: burn.txHash })
    }
  }

  return async (transfers, toPlaced) => {
    const addresses = [...new Set(transfers.map(({ to }) => to))]
    const challenges = await store.find(addresses)
    const issued = new Map(addresses.map((address, i) => [address, challenges[i]]))
    for (const transfer of transfers) {
      const challenge = issued.get(transfer.to)
      if (challenge) await take(challenge, await toPlaced(transfer))
    }
  }
}

export const moved = (block: bigint) =>
  new SvcError('block_moved', `block ${block} was replaced while it was read`)
