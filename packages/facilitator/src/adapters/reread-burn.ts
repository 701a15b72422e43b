/** Looks again for a burn that was confirmed once: a reorg may have moved it or taken it away. */

import type { RereadBurn } from '../payment/mint-ports.js'
import type { Chain } from '../payment/ports.js'

export function createRereadBurn(chain: Pick<Chain, 'selfTransferFacts' | 'findExecutedBurn'>): RereadBurn {
  return async (challenge, burn) => {
    const { receipt } = await chain.selfTransferFacts(burn.txHash, challenge.payTo)
    const transfer =
      receipt?.succeeded &&
      receipt.transfers.find(({ to, value }) => to === challenge.payTo && value >= challenge.amount)
    if (receipt && transfer) {
      const { blockNumber, blockHash } = receipt
      const { leafIndex, from, value } = transfer
      return { txHash: burn.txHash, blockNumber, blockHash, leafIndex, from, value }
    }
    // The relayer may have put it into another transaction meanwhile.
    return chain.findExecutedBurn(challenge, burn.from)
  }
}
