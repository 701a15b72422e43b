/**
 * One look at the chain, for everything that is signed or was mined lately: transactions end, are sent again or given
 * up, and those that a reorg took back are reopened.
 */
import type { GasPrices } from '@svc-zerc20/evm'
import type { Clock } from '@svc-zerc20/protocol'
import type { Mined } from './mined.js'
import type { Rhythm } from './rhythm.js'
import { nextStep, type OpenStep, type RelayEnd, type Slot, type SlotLimits } from './slot.js'
import type { AnswerTimes, Head, RelayReader, RelayView } from './view.js'

export type PollLimits = SlotLimits & {
  /** After this time a head that stays the same is asked about in full again. */
  readonly viewAgainMs: number
}

/** Fills the first unused txNonce when it has been a gap for long enough. */
export type FillGap = (firstUnused: number, times: AnswerTimes) => Promise<void>

/** Below every block: nothing counts as deep. */
const nowhere = { number: 0n }

/** A look that is under way when `closing` aborts changes nothing any more. */
export function createPoll(deps: {
  readonly slots: {
    readonly all: readonly Slot[]
    finish(slot: Slot, end: RelayEnd): void
    reopen(slot: Slot): void
  }
  readonly mined: Pick<Mined, 'txNonces' | 'poll'>
  readonly reader: RelayReader
  readonly gasPrices: Pick<GasPrices, 'sawBaseFee'>
  readonly rhythm: Pick<Rhythm, 'saw'>
  readonly takeStep: (slot: Slot, step: OpenStep) => Promise<void>
  readonly fillGap: FillGap
  readonly confirmations: number
  readonly clock: Pick<Clock, 'now'>
  readonly onHead: (blockNumber: bigint) => void
  readonly closing: AbortSignal
  readonly limits: PollLimits
}): () => Promise<void> {
  const { slots, mined, reader, confirmations, clock, closing, limits } = deps
  /** The newest head that the node was seen to have: depth is counted from here. */
  let believed: Head | undefined
  let viewed: { readonly headHash: string; readonly atMs: number; readonly isHalf: boolean } | undefined

  function believe(head: Head): void {
    believed = head
    deps.onHead(head.number)
  }

  async function pollSlots(head: Head): Promise<void> {
    const asked = slots.all.flatMap((slot) => slot.versions.map(({ hash }) => ({ slot, hash })))
    const askedMs = clock.now()
    const signedMs = Math.min(...slots.all.map(({ signedAtMs }) => signedAtMs))
    const hashes = asked.map(({ hash }) => hash)
    const view = await reader.view(head, hashes, { isNew: askedMs - signedMs < limits.viewAgainMs })
    if (closing.aborted) return
    if (!view) {
      viewed = { headHash: head.hash, atMs: signedMs, isHalf: false }
      return
    }
    if (view.headIsThere) believe(head)
    const times = { askedMs, answeredMs: clock.now() }
    const seen = { usedTxNonces: view.usedTxNonces, head: believed ?? nowhere }
    for (const slot of new Set(asked.map((entry) => entry.slot))) {
      const receipts = view.receipts.filter((_, i) => asked[i]?.slot === slot)
      const step = nextStep(slot, receipts, seen, { ...times, confirmations, limits })
      if (step.kind === 'mined' || step.kind === 'displaced') slots.finish(slot, step)
      else await deps.takeStep(slot, step)
    }
    await deps.fillGap(view.usedTxNonces, times)
    viewed = { headHash: head.hash, atMs: askedMs, isHalf: isHalf(view, slots.all) }
  }

  async function pollMined(head: Head): Promise<void> {
    if (believed?.hash !== head.hash) {
      const [hash] = await reader.blockHashes([head.number])
      if (hash === head.hash) believe(head)
    }
    if (closing.aborted || !believed) return
    for (const reorged of await mined.poll(believed)) {
      const { slot } = reorged
      if (reorged.how === 'gone') slots.reopen(slot)
      else slot.call.onReorged?.(Promise.resolve({ kind: 'mined', receipt: reorged.receipt }), 'moved')
    }
  }

  return async () => {
    // The head is asked for first. While it stays the same, nothing was mined, and few other questions are
    // worthwhile.
    const head = await reader.head()
    if (closing.aborted) return
    deps.gasPrices.sawBaseFee(head.baseFee)
    deps.rhythm.saw(head.number, clock.now())
    const isKnown = viewed?.headHash === head.hash && !viewed.isHalf
    const isFresh = viewed !== undefined && clock.now() - viewed.atMs < limits.viewAgainMs
    if (slots.all.length > 0 && !(isKnown && isFresh)) await pollSlots(head)
    if (!closing.aborted && mined.txNonces().length > 0) await pollMined(head)
  }
}

/** A used txNonce without a receipt: the node has not told all of this block yet. */
const isHalf = (view: RelayView, slots: readonly Slot[]): boolean =>
  !view.headIsThere ||
  view.receipts.includes('unreadable') ||
  slots.some((slot) => slot.txNonceUsedSinceMs !== undefined)
