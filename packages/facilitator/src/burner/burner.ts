/** Relays permit burns: those that arrive together share one transaction, and each succeeds or fails alone. */
import type { Receipt } from '@svc-zerc20/evm'
import { type Address, type ChallengeNonce, type Rejection, reject, SvcError } from '@svc-zerc20/protocol'
import { burnsIn, verdictsIn } from '../chain/burn-logs.js'
import { type ChainReader, isBefore } from '../chain/chain.js'
import { createCoalescer } from '../coalesce.js'
import type { Ledger } from '../payment/ledger-port.js'
import type { Burner, BurnOutcome, Clock } from '../payment/ports.js'
import type { SignedTransaction } from '../payment/records.js'
import type { Report } from '../payment/report.js'
import type { RelayEnd, Relayer, Reorg } from '../relayer/relayer.js'
import { createBatchSize } from './batch-size.js'
import { encodeBatch, type BatchItem as Item, toRejection } from './call.js'
import type { BurnTrial } from './trial.js'

type ItemOutcome =
  | BurnOutcome
  /** The transaction did not execute and cannot any more: the burn needs a new one, with fewer others or not. */
  | { readonly kind: 'again'; readonly withFewer: boolean }
  /** The chain would refuse it now, so that nothing was sent. A node that is behind may be wrong about that. */
  | { readonly kind: 'would_fail'; readonly rejection: Rejection; readonly isBehind: boolean }
  /** The chain executed it, here or in someone else's transaction; where is still to be found. */
  | { readonly kind: 'executed' }
  /** The receipt does not say: the replay ledger on chain knows. */
  | { readonly kind: 'look_up' }

export type BurnerLimits = {
  readonly batchItemsMax: number
  readonly batchGrowsAfter: number
  readonly batchesInFlightMax: number
  readonly batchGatherMs: number
  readonly burnQueueMax: number
  readonly burnItemGas: bigint
  readonly batchBaseGas: bigint
  readonly burnAttemptsMax: number
  readonly receiptPollMaxMs: number
  readonly rpcBackoffMaxMs: number
  readonly laggingNodeLooksMax: number
  readonly trialsMax: number
}

export function createBurner(deps: {
  chain: ChainReader
  trial: BurnTrial
  relayer: Pick<Relayer, 'submit' | 'resume' | 'watch'>
  recordSigned: Ledger['recordSigned']
  report: Report
  token: Address
  helper: Address
  confirmations: number
  clock: Clock
  onRpcFailure: (err: unknown) => void
  /** Ends what would otherwise ask the node until it answers. */
  closing: AbortSignal
  limits: BurnerLimits
}): Burner {
  const { chain, relayer, token, helper, clock, closing, limits } = deps
  const batchSize = createBatchSize(limits)
  const listeners: Parameters<Burner['onReorged']>[0][] = []

  const batches = createCoalescer<Item, ItemOutcome>({
    run: runBatch,
    batchMax: limits.batchItemsMax,
    inFlightMax: limits.batchesInFlightMax,
    gather: () => clock.sleep(limits.batchGatherMs),
  })

  /** One record for all burns of a transaction, durable before the transaction is seen. */
  const recordFor = (items: readonly Item[]) => async (transaction: SignedTransaction) => {
    const nonces = items.map(({ challenge }) => challenge.nonce)
    await deps.recordSigned(transaction, nonces)
    for (const challengeNonce of nonces) {
      deps.report({ event: 'burn.broadcast', challengeNonce, txHash: transaction.hash })
    }
  }

  /** A reorg took the burns of a transaction back: how they end is open again. */
  const reorgedFor = (items: readonly Item[]) => (ended: Promise<RelayEnd>, how: Reorg) => {
    const outcomes = ended.then((end) => endBatch(items, end))
    for (const [i, item] of items.entries()) {
      const outcome = outcomes.then((all) => resumeItem(item, all[i]))
      // Whoever listens says what becomes of it; without anyone it must still not end the process.
      outcome.catch(() => undefined)
      for (const listener of listeners) listener(item, outcome, how)
    }
  }

  const ownerOf = (items: readonly Item[]) =>
    ({ purpose: 'burn', recordSigned: recordFor(items), onReorged: reorgedFor(items) }) as const

  async function runBatch(items: readonly Item[]): Promise<readonly ItemOutcome[]> {
    const size = batchSize.now()
    const parts = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
      items.slice(i * size, (i + 1) * size),
    )
    return (await Promise.all(parts.map(runTransaction))).flat()
  }

  /** What would fail is not sent: the relayer would pay for it. */
  async function runTransaction(items: readonly Item[]): Promise<readonly ItemOutcome[]> {
    const refused = await tryOut(items)
    const good = items.filter((_, i) => refused[i] === undefined)
    const ended = good.length > 0 ? await relay(good) : []
    const outcomes = new Map(good.map((item, i) => [item, ended[i]]))
    return items.map((item, i) => refused[i] ?? outcomes.get(item) ?? { kind: 'look_up' })
  }

  async function tryOut(items: readonly Item[]): Promise<readonly (ItemOutcome | undefined)[]> {
    try {
      const { at, refusals } = await deps.trial(items)
      const isBehind = isBefore(at, chain.viewedAt())
      return refusals.map((reason) => {
        const rejection = reason && toRejection(reason)
        if (rejection === undefined) return undefined
        return rejection === 'executed_elsewhere'
          ? { kind: 'executed' }
          : { kind: 'would_fail', rejection, isBehind }
      })
    } catch (err) {
      // It saves gas, and is no reason to keep payers waiting: each of these was judged good a moment ago.
      deps.onRpcFailure(err)
      return []
    }
  }

  async function relay(items: readonly Item[]): Promise<readonly ItemOutcome[]> {
    const gas = limits.batchBaseGas + limits.burnItemGas * BigInt(items.length)
    const call = { ...ownerOf(items), to: helper, data: encodeBatch(items, token), gas }
    let end: RelayEnd
    try {
      end = await relayer.submit(call)
    } catch (err) {
      // Nothing was broadcast: the node gave no fee or nonce, or the transaction could not be recorded.
      const isStorage = err instanceof SvcError && err.code === 'journal_failed'
      if (!isStorage) deps.onRpcFailure(err)
      const rejection = reject(isStorage ? 'storage_unavailable' : 'chain_unavailable')
      return items.map(() => ({ kind: 'failed', rejection }))
    }
    return endBatch(items, end)
  }

  async function endBatch(items: readonly Item[], end: RelayEnd): Promise<readonly ItemOutcome[]> {
    if (end.kind === 'displaced') {
      const isTooLarge = end.why === 'refused' && items.length > 1
      if (isTooLarge) batchSize.refused(items.length)
      return items.map(() => ({ kind: 'again', withFewer: isTooLarge }))
    }
    batchSize.mined()
    try {
      return await readOutcomes(items, end.receipt)
    } catch (err) {
      deps.onRpcFailure(err)
      return items.map(() => ({ kind: 'look_up' }))
    }
  }

  /** Accepted needs all three: a successful receipt, the transfer in it, and the funds at the burn address. */
  async function readOutcomes(items: readonly Item[], receipt: Receipt): Promise<readonly ItemOutcome[]> {
    const verdicts = verdictsIn(receipt, helper)
    const burnOf = burnsIn(receipt, token)
    const executed = items.filter(({ challenge }) => verdicts.get(challenge.nonce) === 'executed')
    const held = await untilAnswered(() => readHeld(executed))
    return items.map(({ challenge }): ItemOutcome => {
      const { transactionHash: txHash } = receipt
      const verdict = verdicts.get(challenge.nonce)
      // The helper leaves a verdict on every item; a node that shows success without it shows half a receipt.
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
      // Executed, so the money moved: until the node shows all of it, it is looked for, never given up.
      return burn && held.has(challenge.nonce) ? { kind: 'burned', burn } : { kind: 'executed' }
    })
  }

  /** Which burn addresses hold their amount; a node that lags behind the receipt is asked again. */
  async function readHeld(items: readonly Item[]): Promise<Set<ChallengeNonce>> {
    let held = new Set<ChallengeNonce>()
    for (let look = 0; look < limits.laggingNodeLooksMax && held.size < items.length; look++) {
      if (look > 0) await pause(limits.receiptPollMaxMs)
      const balances = await chain.balances(items.map(({ challenge }) => challenge.payTo))
      const covered = items.filter(({ challenge }, i) => (balances[i] ?? 0n) >= challenge.amount)
      held = new Set(covered.map(({ challenge }) => challenge.nonce))
    }
    return held
  }

  /** The transaction is mined and its outcome is known to the chain: asking again is all that is left to do. */
  async function untilAnswered<T>(question: () => Promise<T>): Promise<T> {
    for (let pauseMs = limits.receiptPollMaxMs; ; pauseMs = Math.min(pauseMs * 2, limits.rpcBackoffMaxMs)) {
      try {
        return await question()
      } catch (err) {
        if (closing.aborted) throw err
        deps.onRpcFailure(err)
        await pause(pauseMs)
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await clock.sleep(ms)
    if (closing.aborted)
      throw new SvcError('burner_closed', 'the facilitator closed before the burn was seen')
  }

  /**
   * The replay ledger on chain holds this burn: its event says where. The money has moved, so this never gives
   * up; it needs as many confirmations as a burn of ours, and a node that lags is asked again.
   */
  async function findExecuted({ challenge, payload }: Item): Promise<BurnOutcome> {
    for (let pauseMs = limits.receiptPollMaxMs; ; pauseMs = Math.min(pauseMs * 2, limits.rpcBackoffMaxMs)) {
      const burn = await untilAnswered(() => chain.findExecutedBurn(challenge, payload.payer))
      const depth = burn ? chain.headNumber() - burn.blockNumber + 1n : 0n
      if (burn && depth >= BigInt(deps.confirmations)) return { kind: 'burned', burn }
      await pause(burn ? limits.receiptPollMaxMs : pauseMs)
    }
  }

  /** The receipt did not say what became of a burn: the replay ledger does. */
  async function lookUp(item: Item): Promise<BurnOutcome> {
    const { challenge, payload } = item
    for (let look = 0; look < limits.laggingNodeLooksMax; look++) {
      const { executed } = await untilAnswered(() => chain.permitFacts(challenge, payload.payer))
      if (executed) return findExecuted(item)
      await pause(limits.receiptPollMaxMs)
    }
    return { kind: 'failed', rejection: reject('burn_failed', 'the transaction did not execute the burn') }
  }

  const trialsMaxFor = ({ isBehind }: { isBehind: boolean }) =>
    isBehind ? limits.laggingNodeLooksMax : limits.trialsMax

  async function burn(item: Item): Promise<BurnOutcome> {
    for (let attempts = 0, trials = 1; attempts < limits.burnAttemptsMax; ) {
      if (batches.size() >= limits.burnQueueMax) return { kind: 'failed', rejection: reject('relayer_busy') }
      const outcome = await batches.ask(item)
      const trialsMax = outcome.kind === 'would_fail' ? trialsMaxFor(outcome) : 0
      if (trials < trialsMax) {
        trials += 1
        await pause(limits.receiptPollMaxMs)
        continue
      }
      if (outcome.kind !== 'again') return endItem(item, outcome)
      // With half of the others there is something new to try, and no more often than a batch can be halved.
      if (!outcome.withFewer) attempts += 1
    }
    return { kind: 'failed', rejection: reject('relayer_busy', 'no transaction of the relayer gets through') }
  }

  async function endItem(item: Item, outcome: Exclude<ItemOutcome, { kind: 'again' }>): Promise<BurnOutcome> {
    if (outcome.kind === 'look_up') return lookUp(item)
    if (outcome.kind === 'would_fail') return { kind: 'failed', rejection: outcome.rejection }
    return outcome.kind === 'executed' ? findExecuted(item) : outcome
  }

  async function resumeItem(item: Item, outcome: ItemOutcome = { kind: 'look_up' }): Promise<BurnOutcome> {
    return outcome.kind === 'again' ? burn(item) : endItem(item, outcome)
  }

  return {
    burn: (challenge, payload) => burn({ challenge, payload }),

    resume({ transactions, items, accepted = [] }) {
      const earlier = { ...ownerOf([...items, ...accepted]), forms: transactions }
      const ended = relayer.resume(earlier).then((end) => endBatch(items, end))
      return items.map(async (item, i) => resumeItem(item, (await ended)[i]))
    },

    watch({ transactions, items, block }) {
      relayer.watch({ ...ownerOf(items), forms: transactions }, block)
    },

    find: (challenge, payload) => findExecuted({ challenge, payload }),

    onReorged: (listener) => void listeners.push(listener),
  }
}
