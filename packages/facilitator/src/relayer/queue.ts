/**
 * The transactions that are signed and have not ended, each in the slot of its transaction nonce. A look at the chain moves them
 * on: mined, displaced, sent again, raised, given up; and those that a reorg took back come in again.
 */
import type { Fee, Fees } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import type { RelayerEvent } from '../telemetry/reports.js'
import type { Broadcast } from './broadcast.js'
import { createIsGap } from './gap.js'
import { createMined, type Mined, type MinedLimits } from './mined.js'
import type { Priority } from './priority.js'
import {
  emptyCall,
  nextStep,
  openSlot,
  type RelayEnd,
  type RelayedCall,
  type Slot,
  type SlotLimits,
} from './slot.js'
import { createTakeStep } from './take-step.js'
import type { Head, RelayReader } from './view.js'

export type RelayQueue = {
  readonly slots: readonly Slot[]
  /** Signs a call for a transaction nonce; from then on it has a slot. */
  open(call: RelayedCall, txNonce: number, fee: Fee, end: Slot['end']): Promise<Slot>
  /** Takes in what was signed earlier. */
  add(slot: Slot): void
  /** Watches what was mined earlier. */
  keep: Mined['keep']
  /** Transaction nonces that are ours, also of what was mined lately. */
  txNonces(): readonly number[]
  look(): Promise<void>
  /** The longest pause between two looks; undefined when there is nothing to look for. */
  longestPauseMs(): number | undefined
  /** A look that is under way changes nothing any more. */
  close(): void
}

export type QueueLimits = SlotLimits &
  MinedLimits & {
    readonly receiptPollMaxMs: number
    readonly viewAgainMs: number
    readonly feeBumpsMax: number
  }

/** Below every block: nothing counts as deep. */
const nowhere = { number: 0n }

export function createRelayQueue(deps: {
  reader: RelayReader
  broadcast: Broadcast
  fees: Fees
  priority: Pick<Priority, 'take'>
  /** The key's own, for calls that do nothing. */
  address: Address
  confirmations: number
  reorgWatchBlocks: number
  clock: Clock
  report: (event: RelayerEvent) => void
  onHead: (blockNumber: bigint) => void
  /** Someone else used a nonce of the key. */
  onForeign: () => void
  limits: QueueLimits
}): RelayQueue {
  const { reader, fees, address, confirmations, clock, report, limits } = deps
  const { sign, send } = deps.broadcast
  const slots: Slot[] = []
  const mined = createMined({
    reader,
    clock,
    watchBlocks: deps.reorgWatchBlocks,
    onMissing: (slot) => void sendAgain(slot),
    limits,
  })
  const takeStep = createTakeStep(deps)
  const isGap = createIsGap({ clock, patienceMs: limits.feeBumpAfterMs })
  /** The newest head that the node was seen to have: what is deep is counted from here. */
  let believed: Head | undefined
  let viewed: { readonly headHash: string; readonly atMs: number; readonly isHalf: boolean } | undefined
  let isClosed = false

  async function open(call: RelayedCall, txNonce: number, fee: Fee, end: Slot['end']): Promise<Slot> {
    const form = await sign(call, txNonce, fee)
    const now = clock.now()
    const slot = openSlot({ txNonce, call, forms: [form], end }, { signedAtMs: now, sentAtMs: now })
    slots.push(slot)
    return slot
  }

  function longestPauseMs(): number | undefined {
    if (slots.length > 0) return limits.receiptPollMaxMs
    return mined.txNonces().length > 0 ? limits.reorgPollMs : undefined
  }

  /** The head is asked for first: as long as it stays, nothing was mined, and little else is worth a question. */
  async function look(): Promise<void> {
    const head = await reader.head()
    if (isClosed) return
    fees.sawBaseFee(head.baseFee)
    const isKnown = viewed?.headHash === head.hash && !viewed.isHalf
    const isFresh = viewed !== undefined && clock.now() - viewed.atMs < limits.viewAgainMs
    if (slots.length > 0 && !(isKnown && isFresh)) await lookAtSlots(head)
    if (isClosed || mined.txNonces().length === 0) return
    if (believed?.hash !== head.hash) {
      const [hash] = await reader.blockHashes([head.number])
      if (hash === head.hash) believe(head)
    }
    if (isClosed || !believed) return
    for (const uprooted of await mined.look(believed)) {
      const { slot } = uprooted
      if (uprooted.how === 'gone') reopen(slot)
      else slot.call.onReorged?.(Promise.resolve({ kind: 'mined', receipt: uprooted.receipt }), 'moved')
    }
  }

  function believe(head: Head): void {
    believed = head
    deps.onHead(head.number)
  }

  async function lookAtSlots(head: Head): Promise<void> {
    const asked = slots.flatMap((slot) => slot.forms.map(({ hash }) => ({ slot, hash })))
    const view = await reader.view(
      head,
      asked.map(({ hash }) => hash),
    )
    if (isClosed) return
    if (view.headIsThere) believe(head)
    const now = clock.now()
    for (const slot of new Set(asked.map((entry) => entry.slot))) {
      const receipts = view.receipts.filter((_, i) => asked[i]?.slot === slot)
      const step = nextStep(
        slot,
        receipts,
        { ...view, head: believed ?? nowhere },
        { now, confirmations, limits },
      )
      if (step.kind === 'mined' || step.kind === 'displaced') finish(slot, step)
      else await takeStep(slot, step)
    }
    await fillGap(view.usedNonces)
    // A nonce that is used and a receipt that is missing: the node has not said all of this block yet.
    const isHalf =
      !view.headIsThere ||
      view.receipts.includes('unreadable') ||
      slots.some((slot) => slot.txNonceUsedSinceMs !== undefined)
    viewed = { headHash: head.hash, atMs: now, isHalf }
  }

  async function sendAgain(slot: Slot): Promise<void> {
    if (clock.now() - slot.sentAtMs >= limits.rebroadcastMs) await send(slot)
  }

  /** A gap is filled with what a reorg took back, or with an empty transaction to ourselves. */
  async function fillGap(txNonce: number): Promise<void> {
    if (!isGap(slots, txNonce)) return
    report({ event: 'relayer.gap_filled', nonce: txNonce })
    const lost = mined.take(txNonce)
    if (lost) reopen(lost)
    else {
      const call = { purpose: 'burn', ...emptyCall(address) } as const
      void send(await open(call, txNonce, await fees.current(), () => undefined))
    }
  }

  function finish(slot: Slot, end: RelayEnd): void {
    slots.splice(slots.indexOf(slot), 1)
    if (end.kind === 'mined') {
      const { gas = 0n, wei = 0n } = end.receipt.cost ?? {}
      report({ event: 'relayer.mined', nonce: slot.txNonce, purpose: slot.call.purpose, gas, wei })
      mined.keep(slot, end.receipt)
    }
    if (end.kind === 'displaced' && end.why === 'foreign') {
      report({ event: 'relayer.displaced', nonce: slot.txNonce })
      deps.onForeign()
    }
    slot.end(end)
  }

  /** A reorg took back what had been mined: the same bytes go out again, under the same nonce. */
  function reopen(slot: Slot): void {
    const ended = new Promise<RelayEnd>((end) => {
      slot.end = end
    })
    slot.signedAtMs = clock.now()
    slots.push(slot)
    report({ event: 'relayer.reorged', nonce: slot.txNonce })
    slot.call.onReorged?.(ended, 'gone')
    void send(slot)
  }

  return {
    slots,
    open,
    add: (slot) => void slots.push(slot),
    keep: mined.keep,
    txNonces: () => [...mined.txNonces(), ...slots.map(({ txNonce }) => txNonce)],
    look,
    longestPauseMs,
    close() {
      isClosed = true
    },
  }
}
