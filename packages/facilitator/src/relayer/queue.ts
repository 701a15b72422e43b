/**
 * The transactions that are signed and have not ended, each in the slot of its nonce. A look at the chain moves them
 * on: mined, displaced, sent again, raised, given up; and those that a reorg took back come in again.
 */
import type { Fee, Fees } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import type { RelayerEvent } from '../telemetry/reports.js'
import type { Broadcast } from './broadcast.js'
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
  type SlotStep,
} from './slot.js'
import type { Head, RelayReader } from './view.js'

export type RelayQueue = {
  readonly slots: readonly Slot[]
  /** Signs a call for a nonce; from then on it has a slot. */
  open(call: RelayedCall, nonce: number, fee: Fee, end: Slot['end']): Promise<Slot>
  /** Takes in what was signed earlier. */
  add(slot: Slot): void
  /** Watches what was mined earlier. */
  keep: Mined['keep']
  /** Nonces that are ours, also of what was mined lately. */
  nonces(): readonly number[]
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
  const { reader, fees, priority, address, confirmations, clock, report, limits } = deps
  const { sign, send } = deps.broadcast
  const slots: Slot[] = []
  const mined = createMined({
    reader,
    clock,
    watchBlocks: deps.reorgWatchBlocks,
    onMissing: (slot) => void sendAgain(slot),
    limits,
  })
  /** The newest head that the node was seen to have: what is deep is counted from here. */
  let believed: Head | undefined
  let viewed: { readonly headHash: string; readonly atMs: number; readonly isHalf: boolean } | undefined
  let gap: { readonly nonce: number; readonly sinceMs: number } | undefined
  let isClosed = false

  async function open(call: RelayedCall, nonce: number, fee: Fee, end: Slot['end']): Promise<Slot> {
    const form = await sign(call, nonce, fee)
    const now = clock.now()
    const slot = openSlot({ nonce, call, forms: [form], end }, { signedAtMs: now, sentAtMs: now })
    slots.push(slot)
    return slot
  }

  function longestPauseMs(): number | undefined {
    if (slots.length > 0) return limits.receiptPollMaxMs
    return mined.nonces().length > 0 ? limits.reorgPollMs : undefined
  }

  /** The head is asked for first: as long as it stays, nothing was mined, and little else is worth a question. */
  async function look(): Promise<void> {
    const head = await reader.head()
    if (isClosed) return
    fees.sawBaseFee(head.baseFee)
    const isKnown = viewed?.headHash === head.hash && !viewed.isHalf
    const isFresh = viewed !== undefined && clock.now() - viewed.atMs < limits.viewAgainMs
    if (slots.length > 0 && !(isKnown && isFresh)) await lookAtSlots(head)
    if (isClosed || mined.nonces().length === 0) return
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
      await take(slot, step)
    }
    await fillGap(view.usedNonces)
    // A nonce that is used and a receipt that is missing: the node has not said all of this block yet.
    const isHalf =
      !view.headIsThere ||
      view.receipts.includes('unreadable') ||
      slots.some((slot) => slot.nonceUsedSinceMs !== undefined)
    viewed = { headHash: head.hash, atMs: now, isHalf }
  }

  async function take(slot: Slot, step: SlotStep): Promise<void> {
    if (step.kind === 'mined' || step.kind === 'displaced') finish(slot, step)
    else if (step.kind === 'raise_fee') await raiseFee(slot)
    else if (step.kind === 'give_up') await giveUp(slot)
    // Not awaited: a send that hangs must not keep us from seeing receipts.
    else if (step.kind === 'send_again') void send(slot)
  }

  async function sendAgain(slot: Slot): Promise<void> {
    if (clock.now() - slot.sentAtMs >= limits.rebroadcastMs) await send(slot)
  }

  /**
   * The node will not take the call as it is. Its nonce is used up by an empty transaction, so that those behind
   * it can go on, and its owner may put the call into others. Should a form of it be mined all the same, then
   * under this nonce: one of the two, never both.
   */
  async function giveUp(slot: Slot): Promise<void> {
    const call = { ...slot.call, ...emptyCall(address) }
    const form = await sign(call, slot.nonce, await fees.current())
    slot.call = call
    slot.forms.push(form)
    slot.signedAtMs = clock.now()
    report({ event: 'relayer.given_up', nonce: slot.nonce, txHash: form.hash })
    void send(slot)
  }

  async function raiseFee(slot: Slot): Promise<void> {
    const last = slot.forms.at(-1)
    const fee = last && fees.raised(last.fee)
    slot.signedAtMs = clock.now()
    if (fee && slot.forms.length <= limits.feeBumpsMax) {
      const form = await priority.take(slot.call.purpose, () => sign(slot.call, slot.nonce, fee))
      slot.forms.push(form)
      report({ event: 'relayer.fee_raised', nonce: slot.nonce, txHash: form.hash })
    }
    void send(slot)
  }

  /**
   * A nonce below all of ours that stays unused keeps everything waiting: what an earlier process sent was
   * evicted, or a reorg took back what we sent. The latter goes out again, anything else becomes an empty
   * transaction to ourselves.
   */
  async function fillGap(nonce: number): Promise<void> {
    const isGap = slots.length > 0 && slots.every((slot) => slot.nonce > nonce)
    if (!isGap) {
      gap = undefined
      return
    }
    const now = clock.now()
    if (gap?.nonce !== nonce) gap = { nonce, sinceMs: now }
    if (now - gap.sinceMs < limits.feeBumpAfterMs) return
    report({ event: 'relayer.gap_filled', nonce })
    const lost = mined.take(nonce)
    if (lost) reopen(lost)
    else {
      const call = { purpose: 'burn', ...emptyCall(address) } as const
      void send(await open(call, nonce, await fees.current(), () => undefined))
    }
  }

  function finish(slot: Slot, end: RelayEnd): void {
    slots.splice(slots.indexOf(slot), 1)
    if (end.kind === 'mined') {
      const { gas = 0n, wei = 0n } = end.receipt.cost ?? {}
      report({ event: 'relayer.mined', nonce: slot.nonce, purpose: slot.call.purpose, gas, wei })
      mined.keep(slot, end.receipt)
    }
    if (end.kind === 'displaced' && end.why === 'foreign') {
      report({ event: 'relayer.displaced', nonce: slot.nonce })
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
    report({ event: 'relayer.reorged', nonce: slot.nonce })
    slot.call.onReorged?.(ended, 'gone')
    void send(slot)
  }

  return {
    slots,
    open,
    add: (slot) => void slots.push(slot),
    keep: mined.keep,
    nonces: () => [...mined.nonces(), ...slots.map(({ nonce }) => nonce)],
    look,
    longestPauseMs,
    close() {
      isClosed = true
    },
  }
}
