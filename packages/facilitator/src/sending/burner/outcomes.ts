/** Outcomes of burns: told by the receipt of their batch, or by the replay ledger on chain. The node is asked until it answers. */
import { type Receipt, transfersIn } from '@svc-zerc20/evm'
import {
  type Address,
  type ChallengeNonce,
  type Clock,
  type Rejection,
  reject,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { verdictsIn } from '../../chain/burn-logs.js'
import type { ChainReader } from '../../chain/chain.js'
import { limits } from '../../config/limits.js'
import type { BurnOutcome } from '../../payment/ports.js'
import type { ClaimedPermit } from '../../payment/records.js'
import { judgeReceipt } from '../../payment/settle/judge.js'
import { toRejection } from './call.js'

export type ItemOutcome =
  | BurnOutcome
  /** The transaction was not executed and cannot be any more: the burn needs a new one, perhaps a smaller one. */
  | { readonly kind: 'again'; readonly withFewer: boolean }
  /**
   * The chain would refuse the burn now, so nothing was sent. A node that is behind may be wrong about that.
   */
  | { readonly kind: 'would_fail'; readonly rejection: Rejection; readonly isBehind: boolean }
  /** What is known does not tell, or not where the burn is. The replay ledger on chain knows; `otherwise` it did not happen. */
  | { readonly kind: 'find_again'; readonly otherwise?: BurnOutcome }

/** The permit burner tells of the deadline first, whether or not somebody else's transaction executed the burn in time. */
export const pastDeadline = (rejection: Rejection, txHash?: TxHash): ItemOutcome => ({
  kind: 'find_again',
  otherwise: { kind: 'failed', rejection, ...(txHash && { txHash }) },
})

export type BurnOutcomes = ReturnType<typeof createBurnOutcomes>

export function createBurnOutcomes(deps: {
  readonly chain: Pick<ChainReader, 'balances' | 'findExecutedBurn' | 'headNumber' | 'permitFacts'>
  readonly token: Address
  readonly helper: Address
  readonly confirmations: number
  readonly clock: Clock
  readonly onRpcFailure: (err: unknown) => void
  readonly closing: AbortSignal
}) {
  const { chain, clock, closing } = deps

  /** Throws when the daemon closes meanwhile. */
  async function pause(ms: number): Promise<void> {
    await clock.sleep(ms)
    if (closing.aborted) throw new SvcError('closed', 'the facilitator closed before the burn was seen')
  }

  const longer = (pauseMs: number) => Math.min(pauseMs * 2, limits.rpcBackoffMaxMs)

  /** Repeats a question, at longer and longer intervals, until the node answers it. */
  async function untilAnswered<T>(question: () => Promise<T>): Promise<T> {
    for (let pauseMs: number = limits.receiptPollMaxMs; ; pauseMs = longer(pauseMs)) {
      try {
        return await question()
      } catch (err) {
        if (closing.aborted) throw err
        deps.onRpcFailure(err)
        await pause(pauseMs)
      }
    }
  }

  /** What the burn addresses hold; a node that lags behind the receipt is asked again. */
  async function readBalances(items: readonly ClaimedPermit[]): Promise<Map<ChallengeNonce, bigint>> {
    for (let reads = 1; ; reads++) {
      const balances = await chain.balances(items.map(({ challenge }) => challenge.payTo))
      const isAll = items.every(({ challenge }, i) => (balances[i] ?? 0n) >= challenge.amount)
      if (isAll || reads === limits.laggingNodeReadsMax)
        return new Map(items.map(({ challenge }, i) => [challenge.nonce, balances[i] ?? 0n]))
      await pause(limits.receiptPollMaxMs)
    }
  }

  /**
   * Finds a burn that the replay ledger holds, by its event. The money has moved, so the search goes on as long as that ledger
   * holds it: a reorg may take back a burn that a stranger sent. The burn needs as many confirmations as one of ours, and a
   * node that lags is asked again.
   */
  async function executed({ challenge, payload }: ClaimedPermit): Promise<BurnOutcome> {
    let missing = 0
    for (let pauseMs: number = limits.receiptPollMaxMs; ; pauseMs = longer(pauseMs)) {
      const burn = await untilAnswered(() => chain.findExecutedBurn(challenge, payload.payer))
      const depth = burn ? chain.headNumber() - burn.blockNumber + 1n : 0n
      if (burn && depth >= BigInt(deps.confirmations)) return { kind: 'burned', burn }
      const isHeld =
        burn !== undefined ||
        (await untilAnswered(() => chain.permitFacts(challenge, payload.payer))).executed
      missing = isHeld ? 0 : missing + 1
      if (missing >= limits.laggingNodeReadsMax) return notExecuted
      await pause(burn ? limits.receiptPollMaxMs : pauseMs)
    }
  }

  return {
    pause,
    executed,

    /** Asks the replay ledger about a burn whose receipt did not tell what became of it. */
    async findAgain(item: ClaimedPermit, otherwise = notExecuted): Promise<BurnOutcome> {
      for (let reads = 0; reads < limits.laggingNodeReadsMax; reads++) {
        const facts = await untilAnswered(() => chain.permitFacts(item.challenge, item.payload.payer))
        if (facts.executed) return executed(item)
        await pause(limits.receiptPollMaxMs)
      }
      return otherwise
    },

    /** The outcome of each burn in a mined batch. */
    async inReceipt(items: readonly ClaimedPermit[], receipt: Receipt): Promise<readonly ItemOutcome[]> {
      const verdicts = verdictsIn(receipt, deps.helper)
      const { transactionHash: txHash } = receipt
      const shown = { ...receipt, transfers: transfersIn(receipt.logs, deps.token) }
      const done = items.filter(({ challenge }) => verdicts.get(challenge.nonce) === 'executed')
      const balances = done.length > 0 ? await untilAnswered(() => readBalances(done)) : undefined
      return items.map(({ challenge }): ItemOutcome => {
        const verdict = verdicts.get(challenge.nonce)
        // The permit burner leaves a verdict on every item. A node that shows success without it shows half a
        // receipt.
        if (verdict === undefined && receipt.succeeded) return { kind: 'find_again' }
        if (verdict === undefined) {
          return {
            kind: 'failed',
            rejection: reject('burn_failed', 'the batch transaction reverted'),
            txHash,
          }
        }
        if (verdict !== 'executed') {
          const rejection = toRejection(verdict.reason)
          if (rejection === 'executed_elsewhere') return { kind: 'find_again' }
          if (rejection.reason === 'deadline_passed') return pastDeadline(rejection, txHash)
          return { kind: 'failed', rejection, txHash, spentGas: true }
        }
        const judged = judgeReceipt(challenge, txHash, shown, balances?.get(challenge.nonce) ?? 0n)
        // The burn was executed, so the money moved. The search goes on until the node shows all of it.
        return judged.ok ? { kind: 'burned', burn: judged.value } : { kind: 'find_again' }
      })
    },
  }
}

const notExecuted: BurnOutcome = {
  kind: 'failed',
  rejection: reject('burn_failed', 'the transaction did not execute the burn'),
}
