/** The transactions of one key: those that are signed, those that were mined lately, and the look at both. */
import type { GasPrices } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { RelayerEvent } from '../../telemetry/reports.js'
import type { Broadcast } from './broadcast.js'
import { createFillGap } from './gap.js'
import { createLook, type LookLimits } from './look.js'
import { createMined, type Mined, type MinedLimits } from './mined.js'
import type { Priority } from './priority.js'
import type { Slot } from './slot.js'
import { createSlots, type Slots } from './slots.js'
import { createTakeStep } from './take-step.js'
import type { RelayReader } from './view.js'

export type RelayQueue = {
  readonly slots: readonly Slot[]
  readonly open: Slots['open']
  readonly add: Slots['add']
  /** Watches a transaction that was mined earlier. */
  readonly keep: Mined['keep']
  /** The txNonces that are ours, also those of transactions that were mined lately. */
  txNonces(): readonly number[]
  look(): Promise<void>
  /** The longest pause between two looks; undefined when there is nothing to look for. */
  longestPauseMs(): number | undefined
  /** A look that is under way changes nothing any more. */
  close(): void
}

export type QueueLimits = LookLimits &
  MinedLimits & {
    readonly receiptPollMaxMs: number
    readonly priceBumpsMax: number
  }

export function createRelayQueue(deps: {
  reader: RelayReader
  broadcast: Broadcast
  gasPrices: GasPrices
  priority: Pick<Priority, 'take'>
  /** The key's own, for calls that do nothing. */
  address: Address
  confirmations: number
  reorgWatchBlocks: number
  clock: Clock
  report: (event: RelayerEvent) => void
  onHead: (blockNumber: bigint) => void
  /** Someone else used a txNonce of the key. */
  onForeign: () => void
  limits: QueueLimits
}): RelayQueue {
  const { broadcast, clock, limits } = deps
  const closing = new AbortController()
  const mined = createMined({
    ...deps,
    watchBlocks: deps.reorgWatchBlocks,
    onMissing(slot) {
      if (clock.now() - slot.sentAtMs >= limits.rebroadcastMs) void broadcast.send(slot)
    },
  })
  const slots = createSlots({ ...deps, mined })
  const fillGap = createFillGap({ ...deps, slots, mined, patienceMs: limits.priceBumpAfterMs })
  const takeStep = createTakeStep(deps)
  return {
    slots: slots.all,
    open: slots.open,
    add: slots.add,
    keep: mined.keep,
    txNonces: () => [...mined.txNonces(), ...slots.all.map(({ txNonce }) => txNonce)],
    look: createLook({ ...deps, slots, mined, takeStep, fillGap, closing: closing.signal }),
    longestPauseMs() {
      if (slots.all.length > 0) return limits.receiptPollMaxMs
      return mined.txNonces().length > 0 ? limits.reorgPollMs : undefined
    },
    close: () => closing.abort(),
  }
}
