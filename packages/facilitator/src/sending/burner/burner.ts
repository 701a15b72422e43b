/** Relays permit burns: those that arrive together share one transaction, and each succeeds or fails alone. */
import { type Address, type Clock, reject } from '@svc-zerc20/protocol'
import type { ChainReader } from '../../chain/chain.js'
import { createCoalescer } from '../../chain/coalesce.js'
import { limits } from '../../config/limits.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Burner, BurnOutcome } from '../../payment/ports.js'
import type { ClaimedPermit, SignedTransaction } from '../../payment/records.js'
import type { Report } from '../../payment/report.js'
import type { Relayer } from '../relayer/relayer.js'
import type { CallOwner, RelayEnd, Reorg } from '../relayer/slot.js'
import { batchCall, createBatches, notPast } from './batch.js'
import { createBurnOutcomes, type ItemOutcome } from './outcomes.js'
import type { BurnTrial } from './trial.js'

export type BurnerDeps = {
  readonly chain: ChainReader
  readonly trial: BurnTrial
  readonly relayer: Pick<Relayer, 'submit' | 'resume' | 'watch' | 'untilBlockMs'>
  readonly recordSigned: Ledger['recordSigned']
  readonly report: Report
  readonly token: Address
  readonly helper: Address
  readonly confirmations: number
  readonly clock: Clock
  readonly onRpcFailure: (err: unknown) => void
  /** Ends questions that are repeated until the node answers. */
  readonly closing: AbortSignal
}

export function createBurner(deps: BurnerDeps): Burner {
  const { relayer, clock } = deps
  const outcomes = createBurnOutcomes(deps)
  const listeners: Parameters<Burner['onReorged']>[0][] = []
  const batches = createBatches({ ...deps, ownerOf, outcomes })
  const waiting = createCoalescer<ClaimedPermit, ItemOutcome>({
    run: batches.run,
    batchMax: limits.batchItemsMax,
    inFlightMax: limits.batchesInFlightMax,
    gather: (out, enough) => clock.sleep(gatherMs(out, relayer.untilBlockMs()), enough),
  })

  function ownerOf(items: readonly ClaimedPermit[]): CallOwner {
    return {
      purpose: 'burn',
      recordSigned: recordFor(items, deps),
      onReorged: reorgedFor(items),
      left() {
        const left = notPast(items, clock)
        if (left.length === 0) return undefined
        return { ...batchCall(left, deps.token), recordSigned: recordFor(left, deps) }
      },
    }
  }

  /** A reorg took the burns of a transaction back. Their end is open again. */
  const reorgedFor = (items: readonly ClaimedPermit[]) => (ended: Promise<RelayEnd>, how: Reorg) => {
    const all = ended.then((end) => batches.end(items, end))
    for (const [i, item] of items.entries()) {
      const outcome = all.then((each) => resumeItem(item, each[i]))
      // Listeners handle a failure. Without a listener it must still not end the process.
      outcome.catch(() => undefined)
      for (const listener of listeners) listener(item, outcome, how)
    }
  }

  const trialsMaxFor = ({ isBehind }: { isBehind: boolean }) =>
    isBehind ? limits.laggingNodeReadsMax : limits.trialsMax

  async function burn(item: ClaimedPermit): Promise<BurnOutcome> {
    for (let attempts = 0, trials = 1; attempts < limits.burnAttemptsMax; ) {
      if (waiting.size() >= limits.burnQueueMax) return { kind: 'failed', rejection: reject('relayer_busy') }
      const outcome = await waiting.ask(item)
      const trialsMax = outcome.kind === 'would_fail' ? trialsMaxFor(outcome) : 0
      if (trials < trialsMax) {
        trials += 1
        await outcomes.pause(limits.receiptPollMaxMs)
        continue
      }
      if (outcome.kind !== 'again') return endItem(item, outcome)
      // A smaller batch does not repeat the same attempt, and a batch can be halved only a few times.
      if (!outcome.withFewer) attempts += 1
    }
    const rejection = reject('relayer_busy', 'no transaction of the relayer gets through')
    return { kind: 'failed', rejection, isDisplaced: true }
  }

  async function endItem(
    item: ClaimedPermit,
    outcome: Exclude<ItemOutcome, { kind: 'again' }>,
  ): Promise<BurnOutcome> {
    if (outcome.kind === 'find_again') return outcomes.findAgain(item, outcome.otherwise)
    if (outcome.kind === 'would_fail') return { kind: 'failed', rejection: outcome.rejection }
    return outcome
  }

  async function resumeItem(
    item: ClaimedPermit,
    outcome: ItemOutcome = { kind: 'find_again' },
  ): Promise<BurnOutcome> {
    return outcome.kind === 'again' ? burn(item) : endItem(item, outcome)
  }

  return {
    burn,

    resume({ transactions, items, accepted = [] }) {
      const earlier = { ...ownerOf([...items, ...accepted]), versions: transactions }
      const ended = relayer.resume(earlier).then((end) => batches.end(items, end))
      return items.map(async (item, i) => resumeItem(item, (await ended)[i]))
    },

    watch({ transactions, items, block }) {
      relayer.watch({ ...ownerOf(items), versions: transactions }, block)
    },

    find: outcomes.executed,

    onReorged: (listener) => void listeners.push(listener),
  }
}

/** A block is early or late, and the way to its maker takes a while. */
const untilBlockShare = 0.75

/**
 * How long burns gather for the next transaction while so many are out. Burns of one block are mined together, whenever they
 * were sent: they gather for most of the time in which no block can come. Where that is unknown they gather longer with each
 * transaction that is out, so that not all are out long before the block.
 */
export function gatherMs(out: number, untilBlockMs: number): number {
  const { batchGatherMsMin, batchGatherMsMax, batchGatherBlindMsMax } = limits
  if (untilBlockMs === 0) return Math.min(batchGatherMsMin * 2 ** (out - 1), batchGatherBlindMsMax)
  return Math.min(Math.max(untilBlockShare * untilBlockMs, batchGatherMsMin), batchGatherMsMax)
}

/** One record for all burns of a transaction, durable before the transaction is seen. */
const recordFor =
  (items: readonly ClaimedPermit[], { recordSigned, report }: Pick<BurnerDeps, 'recordSigned' | 'report'>) =>
  async (transaction: SignedTransaction) => {
    const challengeNonces = items.map(({ challenge }) => challenge.nonce)
    await recordSigned(transaction, challengeNonces)
    for (const challengeNonce of challengeNonces) {
      report({ event: 'burn.broadcast', challengeNonce, txHash: transaction.hash })
    }
  }
