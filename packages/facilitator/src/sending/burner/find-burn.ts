/** Finds a burn through the replay ledger on chain, which knows every burn that the permit burner executed. */
import { reject } from '@svc-zerc20/protocol'
import type { ChainReader } from '../../chain/chain.js'
import type { BurnOutcome } from '../../payment/ports.js'
import type { BatchItem } from './call.js'
import type { Patience, PatienceLimits } from './patience.js'

export type FindBurn = {
  /**
   * Finds a burn that the replay ledger holds, by its event. The money has moved, so the search never gives
   * up. The burn needs as many confirmations as one of ours, and a node that lags is asked again.
   */
  executed(item: BatchItem): Promise<BurnOutcome>
  /** Asks the replay ledger about a burn whose receipt did not tell what became of it. */
  lookUp(item: BatchItem): Promise<BurnOutcome>
}

export function createFindBurn(deps: {
  chain: Pick<ChainReader, 'findExecutedBurn' | 'headNumber' | 'permitFacts'>
  confirmations: number
  patience: Patience
  limits: PatienceLimits & { readonly laggingNodeLooksMax: number }
}): FindBurn {
  const { chain, patience, limits } = deps

  async function executed({ challenge, payload }: BatchItem): Promise<BurnOutcome> {
    for (let pauseMs = limits.receiptPollMaxMs; ; pauseMs = Math.min(pauseMs * 2, limits.rpcBackoffMaxMs)) {
      const burn = await patience.untilAnswered(() => chain.findExecutedBurn(challenge, payload.payer))
      const depth = burn ? chain.headNumber() - burn.blockNumber + 1n : 0n
      if (burn && depth >= BigInt(deps.confirmations)) return { kind: 'burned', burn }
      await patience.pause(burn ? limits.receiptPollMaxMs : pauseMs)
    }
  }

  return {
    executed,
    async lookUp(item) {
      const { challenge, payload } = item
      for (let look = 0; look < limits.laggingNodeLooksMax; look++) {
        const facts = await patience.untilAnswered(() => chain.permitFacts(challenge, payload.payer))
        if (facts.executed) return executed(item)
        await patience.pause(limits.receiptPollMaxMs)
      }
      return { kind: 'failed', rejection: reject('burn_failed', 'the transaction did not execute the burn') }
    },
  }
}
