/** The outcome of each burn in a mined batch. */

import type { Receipt } from '@svc-zerc20/evm'
import { type Address, type ChallengeNonce, type Rejection, reject } from '@svc-zerc20/protocol'
import { burnsIn, verdictsIn } from '../../chain/burn-logs.js'
import type { ChainReader } from '../../chain/chain.js'
import type { BurnOutcome } from '../../payment/ports.js'
import { type BatchItem, toRejection } from './call.js'
import type { Patience } from './patience.js'

export type ItemOutcome =
  | BurnOutcome
  /** The transaction was not executed and cannot be any more: the burn needs a new one, perhaps a smaller one. */
  | { readonly kind: 'again'; readonly withFewer: boolean }
  /**
   * The chain would refuse the burn now, so nothing was sent. A node that is behind may be wrong about that.
   */
  | { readonly kind: 'would_fail'; readonly rejection: Rejection; readonly isBehind: boolean }
  /** The chain executed the burn, here or in another transaction. Its place is still to be found. */
  | { readonly kind: 'executed' }
  /** The receipt does not tell, but the replay ledger on chain knows. */
  | { readonly kind: 'look_up' }

export type ReadOutcomes = (items: readonly BatchItem[], receipt: Receipt) => Promise<readonly ItemOutcome[]>

/** Accepted needs all three: a successful receipt, the transfer in it, and the funds at the burn address. */
export function createReadOutcomes(deps: {
  chain: Pick<ChainReader, 'balances'>
  token: Address
  helper: Address
  patience: Patience
  limits: { readonly laggingNodeLooksMax: number; readonly receiptPollMaxMs: number }
}): ReadOutcomes {
  const { chain, patience, limits } = deps

  /** Which burn addresses hold their amount; a node that lags behind the receipt is asked again. */
  async function readHeld(items: readonly BatchItem[]): Promise<Set<ChallengeNonce>> {
    let held = new Set<ChallengeNonce>()
    for (let look = 0; look < limits.laggingNodeLooksMax && held.size < items.length; look++) {
      if (look > 0) await patience.pause(limits.receiptPollMaxMs)
      const balances = await chain.balances(items.map(({ challenge }) => challenge.payTo))
      const covered = items.filter(({ challenge }, i) => (balances[i] ?? 0n) >= challenge.amount)
      held = new Set(covered.map(({ challenge }) => challenge.nonce))
    }
    return held
  }

  return async (items, receipt) => {
    const verdicts = verdictsIn(receipt, deps.helper)
    const burnOf = burnsIn(receipt, deps.token)
    const executed = items.filter(({ challenge }) => verdicts.get(challenge.nonce) === 'executed')
    const held = await patience.untilAnswered(() => readHeld(executed))
    return items.map(({ challenge }): ItemOutcome => {
      const { transactionHash: txHash } = receipt
      const verdict = verdicts.get(challenge.nonce)
      // The permit burner leaves a verdict on every item. A node that shows success without it shows half a
      // receipt.
      if (verdict === undefined && receipt.succeeded) return { kind: 'look_up' }
      if (verdict === undefined) {
        return { kind: 'failed', rejection: reject('burn_failed', 'the batch transaction reverted'), txHash }
      }
      if (verdict !== 'executed') {
        const rejection = toRejection(verdict.reason)
        return rejection === 'executed_elsewhere'
          ? { kind: 'executed' }
          : { kind: 'failed', rejection, txHash, spentGas: true }
      }
      const burn = burnOf(challenge)
      // The burn was executed, so the money moved. The search goes on until the node shows all of it.
      return burn && held.has(challenge.nonce) ? { kind: 'burned', burn } : { kind: 'executed' }
    })
  }
}
