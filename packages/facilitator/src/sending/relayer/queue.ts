/**
 * The transactions of one key: those that are signed, each in the slot of its txNonce, those that were mined lately, and the
 * look at both.
 */
import type { GasPrice } from '@svc-zerc20/evm'
import { createMined, type Mined, type MinedLimits } from './mined.js'
import { createPoll, type FillGap, type PollLimits } from './poll.js'
import { createTakeStep, type ReplaceDeps } from './replace.js'
import type { Rhythm } from './rhythm.js'
import { emptyCall, openSlot, type RelayEnd, type RelayedCall, type Slot } from './slot.js'
import type { AnswerTimes, RelayReader } from './view.js'

export type QueueLimits = PollLimits &
  MinedLimits &
  ReplaceDeps['limits'] & { readonly receiptPollMaxMs: number }

type QueueDeps = ReplaceDeps & {
  readonly reader: RelayReader
  readonly rhythm: Pick<Rhythm, 'saw'>
  readonly confirmations: number
  readonly reorgWatchBlocks: number
  readonly onHead: (blockNumber: bigint) => void
  /** Someone else used a txNonce of the key. */
  readonly onForeign: () => void
  readonly limits: QueueLimits
}

export function createRelayQueue(deps: QueueDeps) {
  const { broadcast, clock, limits } = deps
  const closing = new AbortController()
  const mined = createMined({
    ...deps,
    watchBlocks: deps.reorgWatchBlocks,
    onMissing(slot) {
      if (clock.now() - slot.sentAtMs >= limits.rebroadcastMs) void broadcast.send(slot)
    },
  })
  const slots = createSlots(deps, mined)
  const fillGap = createFillGap(deps, slots, mined)
  const takeStep = createTakeStep(deps)
  return {
    slots: slots.all as readonly Slot[],
    open: slots.open,
    /** Takes in a transaction that was signed earlier. */
    add: (slot: Slot) => void slots.all.push(slot),
    /** Watches a transaction that was mined earlier. */
    keep: mined.keep,
    /** The txNonces that are ours, also those of transactions that were mined lately. */
    txNonces: (): readonly number[] => [...mined.txNonces(), ...slots.all.map(({ txNonce }) => txNonce)],
    poll: createPoll({ ...deps, slots, mined, takeStep, fillGap, closing: closing.signal }),
    /** The longest pause between two looks; undefined when there is nothing to look for. */
    longestPauseMs(): number | undefined {
      if (slots.all.length > 0) return limits.receiptPollMaxMs
      return mined.txNonces().length > 0 ? limits.reorgPollMs : undefined
    },
    /** A look that is under way changes nothing any more. */
    close: () => closing.abort(),
  }
}

type Slots = ReturnType<typeof createSlots>

/** The transactions that are signed and have not ended. */
function createSlots({ broadcast, clock, report, onForeign }: QueueDeps, mined: Pick<Mined, 'keep'>) {
  const all: Slot[] = []
  return {
    all,

    /** Signs a call for a txNonce; from then on it has a slot. */
    async open(call: RelayedCall, txNonce: number, price: GasPrice, end: Slot['end']): Promise<Slot> {
      const version = await broadcast.sign(call, txNonce, price, 'first')
      const now = clock.now()
      const slot = openSlot({ txNonce, call, versions: [version], end }, { signedAtMs: now, sentAtMs: now })
      all.push(slot)
      return slot
    },

    /** The transaction ended: its slot is free, and its owner is told. A mined transaction is kept in case of a reorg. */
    finish(slot: Slot, end: RelayEnd): void {
      all.splice(all.indexOf(slot), 1)
      if (end.kind === 'mined') {
        const { gas = 0n, wei = 0n } = end.receipt.cost ?? {}
        report({ event: 'relayer.mined', txNonce: slot.txNonce, purpose: slot.call.purpose, gas, wei })
        mined.keep(slot, end.receipt)
      }
      if (end.kind === 'displaced' && end.why === 'foreign') {
        report({ event: 'relayer.displaced', txNonce: slot.txNonce })
        onForeign()
      }
      slot.end(end)
    },

    /** A reorg took back a mined transaction: the same bytes go out again, under the same txNonce. */
    reopen(slot: Slot): void {
      const ended = new Promise<RelayEnd>((end) => {
        slot.end = end
      })
      slot.signedAtMs = clock.now()
      all.push(slot)
      report({ event: 'relayer.reorged', txNonce: slot.txNonce })
      slot.call.onReorged?.(ended, 'gone')
      void broadcast.send(slot)
    },
  }
}

/**
 * A txNonce below all of ours that stays unused keeps everything waiting: the node dropped a transaction of an earlier
 * process, or a reorg took back one of ours.
 */
function createFillGap(deps: QueueDeps, slots: Slots, mined: Pick<Mined, 'take'>): FillGap {
  let gap: { readonly txNonce: number; readonly sinceMs: number } | undefined

  function isGap(firstUnused: number, { askedMs, answeredMs }: AnswerTimes): boolean {
    if (slots.all.length === 0 || !slots.all.every((slot) => slot.txNonce > firstUnused)) {
      gap = undefined
      return false
    }
    if (gap?.txNonce !== firstUnused) gap = { txNonce: firstUnused, sinceMs: answeredMs }
    return askedMs - gap.sinceMs >= deps.limits.priceBumpAfterMs
  }

  return async (firstUnused, times) => {
    if (!isGap(firstUnused, times)) return
    deps.report({ event: 'relayer.gap_filled', txNonce: firstUnused })
    const lost = mined.take(firstUnused)
    if (lost) return slots.reopen(lost)
    const call = { purpose: 'burn', ...emptyCall(deps.address, deps.recordEmpty) } as const
    const price = await deps.gasPrices.current()
    void deps.broadcast.send(await slots.open(call, firstUnused, price, () => undefined))
  }
}
