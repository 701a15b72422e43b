/** Puts burns into transactions: those that would fail are left out, the rest goes to the relayer together. */
import { type Address, type Clock, reject, SvcError } from '@svc-zerc20/protocol'
import type { ChainReader } from '../../chain/chain.js'
import { isBefore } from '../../chain/lens.js'
import { limits } from '../../config/limits.js'
import type { ClaimedPermit } from '../../payment/records.js'
import { isMinable } from '../../payment/settle/judge.js'
import type { Relayer } from '../relayer/relayer.js'
import type { CallOwner, RelayEnd } from '../relayer/slot.js'
import { encodeBatch, toRejection } from './call.js'
import { type BurnOutcomes, type ItemOutcome, pastDeadline } from './outcomes.js'
import type { BurnTrial } from './trial.js'

export function createBatches(deps: {
  chain: Pick<ChainReader, 'viewedAt'>
  trial: BurnTrial
  relayer: Pick<Relayer, 'submit'>
  ownerOf: (items: readonly ClaimedPermit[]) => CallOwner
  outcomes: Pick<BurnOutcomes, 'inReceipt'>
  token: Address
  helper: Address
  clock: Pick<Clock, 'now'>
  onRpcFailure: (err: unknown) => void
}) {
  const batchSize = createBatchSize(limits)

  async function tryOut(items: readonly ClaimedPermit[]): Promise<readonly (ItemOutcome | undefined)[]> {
    try {
      const { at, refusals } = await deps.trial(items)
      const isBehind = isBefore(at, deps.chain.viewedAt())
      return items.map(({ challenge }, i) => {
        const reason = refusals[i]
        const isLate = !isMinable(challenge, at.timestamp, limits.miningSeconds)
        const rejection = reason ? toRejection(reason) : isLate ? reject('deadline_passed') : undefined
        if (rejection === undefined) return undefined
        if (rejection === 'executed_elsewhere') return { kind: 'find_again' }
        if (rejection.reason === 'deadline_passed') return pastDeadline(rejection)
        return { kind: 'would_fail', rejection, isBehind }
      })
    } catch (err) {
      // The trial only saves gas. If it fails, payers need not wait: each burn was judged good before.
      deps.onRpcFailure(err)
      return []
    }
  }

  /** Leaves out burns that would fail, because the relayer would pay for them. */
  async function runTransaction(items: readonly ClaimedPermit[]): Promise<readonly ItemOutcome[]> {
    const refused = await tryOut(items)
    const good = items.filter((_, i) => refused[i] === undefined)
    const ended = good.length > 0 ? await relay(good) : []
    const outcomes = new Map(good.map((item, i) => [item, ended[i]]))
    return items.map((item, i) => refused[i] ?? outcomes.get(item) ?? { kind: 'find_again' })
  }

  async function relay(items: readonly ClaimedPermit[]): Promise<readonly ItemOutcome[]> {
    const call = { ...deps.ownerOf(items), to: deps.helper, ...batchCall(items, deps.token) }
    let ended: RelayEnd
    try {
      ended = await deps.relayer.submit(call)
    } catch (err) {
      // No transaction was broadcast: the node gave no fee or nonce, or the transaction could not be
      // recorded.
      const isStorage = err instanceof SvcError && /^(?:ledger_failed|lease_lost)$/.test(err.code)
      if (!isStorage) deps.onRpcFailure(err)
      const rejection = reject(isStorage ? 'storage_unavailable' : 'chain_unavailable')
      return items.map(() => ({ kind: 'failed', rejection }))
    }
    return end(items, ended)
  }

  /** How the burns of a transaction ended. */
  async function end(items: readonly ClaimedPermit[], ended: RelayEnd): Promise<readonly ItemOutcome[]> {
    if (ended.kind === 'displaced') {
      // A batch past its deadlines was given up for them, not for its size.
      const isTooLarge = ended.why === 'refused' && notPast(items, deps.clock).length > 1
      if (isTooLarge) batchSize.refused(items.length)
      return items.map(() => ({ kind: 'again', withFewer: isTooLarge }))
    }
    batchSize.mined()
    try {
      return await deps.outcomes.inReceipt(items, ended.receipt)
    } catch (err) {
      deps.onRpcFailure(err)
      return items.map(() => ({ kind: 'find_again' }))
    }
  }

  return {
    /** Splits the burns into transactions as large as the node takes; one outcome per burn, in order. */
    async run(items: readonly ClaimedPermit[]): Promise<readonly ItemOutcome[]> {
      const size = batchSize.now()
      const parts = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
        items.slice(i * size, (i + 1) * size),
      )
      return (await Promise.all(parts.map(runTransaction))).flat()
    },
    end,
  }
}

export const batchCall = (items: readonly ClaimedPermit[], token: Address) => ({
  data: encodeBatch(items, token),
  gas: limits.batchBaseGas + limits.burnItemGas * BigInt(items.length),
})

/** Burns that a block to come may still hold, by our clock, which may be ahead of the chain's. */
export function notPast(
  items: readonly ClaimedPermit[],
  clock: Pick<Clock, 'now'>,
): readonly ClaimedPermit[] {
  const surelySeconds = clock.now() / 1000 - limits.clockSkewSecondsMin
  return items.filter(({ challenge: { deadline } }) => deadline !== undefined && surelySeconds <= deadline)
}

/** How many burns share a transaction: fewer after the node refused one, and slowly more again. */
export function createBatchSize(bounds: {
  readonly batchItemsMax: number
  readonly batchGrowsAfter: number
}) {
  let size = bounds.batchItemsMax
  let minedInRow = 0
  return {
    now: () => size,

    /** The node did not take a transaction with this number of burns. */
    refused(items: number): void {
      minedInRow = 0
      size = Math.min(size, Math.max(1, Math.floor(items / 2)))
    },

    mined(): void {
      minedInRow += 1
      if (minedInRow < bounds.batchGrowsAfter) return
      minedInRow = 0
      size = Math.min(size * 2, bounds.batchItemsMax)
    },
  }
}
