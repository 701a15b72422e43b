/**
 * Sends transactions of one key. A transaction keeps its nonce until that nonce is used on chain: it is sent
 * again when the node may have forgotten it, replaced at a higher fee when it is stuck, and never moved to
 * another nonce while it could still be mined. A nonce below ours that nobody uses is filled. So the queue
 * cannot wedge and nothing is sent twice. Burns and mints share the key and its queue; burns go first.
 */
import { type Address, parseAddress, SvcError, type TxHash } from '@svc-zerc20/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Clock, SignedTransaction } from '../payment/ports.js'
import type { Fee, Fees } from './fees.js'
import { type JsonRpc, quantityOf } from './json-rpc.js'
import { createRelayReader, type Head } from './relay-view.js'
import { createMined, type MinedLimits } from './relayer-mined.js'
import { createSender } from './relayer-sender.js'
import {
  emptyCall,
  nextStep,
  openSlot,
  type Purpose,
  type RelayEnd,
  type RelayedCall,
  readForms,
  type Slot,
  type SlotLimits,
  type SlotStep,
} from './relayer-slot.js'
import { createTurns } from './relayer-turns.js'
import { createWatcher, type WatcherLimits } from './relayer-watcher.js'

export type { Purpose, RelayEnd, RelayedCall, Reorg } from './relayer-slot.js'

export type RelayerEvent =
  | { readonly event: 'relayer.unfunded'; readonly address: string }
  | { readonly event: 'relayer.fee_raised'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.displaced'; readonly nonce: number }
  | { readonly event: 'relayer.gap_filled'; readonly nonce: number }
  | { readonly event: 'relayer.send_refused'; readonly nonce: number; readonly message: string }
  | { readonly event: 'relayer.given_up'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.reorged'; readonly nonce: number }
  | { readonly event: 'rpc.failed'; readonly err: unknown }

export type Relayer = {
  readonly address: Address
  /** Reads the first free nonce. */
  start(): Promise<void>
  /**
   * Throws only before anything was signed; afterwards it resolves, however long that takes. A mint waits while
   * enough of them are out, and is refused with `relayer_unfunded` when paying for it could leave burns unpaid.
   */
  submit(call: RelayedCall): Promise<RelayEnd>
  /** Takes up a transaction of an earlier run, in all its signed forms; to be called before `start`. */
  resume(earlier: EarlierTransaction): Promise<RelayEnd>
  /** What is signed and has not ended, oldest nonce first. */
  queue(): readonly QueuedTransaction[]
  /** Stops watching and sending; what was submitted stays without an end. */
  close(): void
}

export type EarlierTransaction = Pick<RelayedCall, 'purpose' | 'recordSigned' | 'onReorged'> & {
  /** Oldest first. */
  readonly forms: readonly SignedTransaction[]
}

export type QueuedTransaction = {
  readonly nonce: number
  readonly purpose: Purpose
  /** Of its newest signed form. */
  readonly txHash: TxHash
  /** How often it was signed: once, and again for each higher fee. */
  readonly forms: number
  readonly signedAtMs: number
  /** The node said that the key cannot pay for it. */
  readonly unfunded: boolean
}

export type RelayerLimits = SlotLimits &
  WatcherLimits &
  MinedLimits & {
    readonly receiptPollMaxMs: number
    readonly viewAgainMs: number
    readonly feeBumpsMax: number
    readonly mintsInFlightMax: number
    readonly mintQueueMax: number
    readonly mintReserveGas: bigint
  }

export function createRelayer(deps: {
  rpc: JsonRpc
  fees: Fees
  account: PrivateKeyAccount
  chainId: number
  confirmations: number
  /** How many blocks deep a mined transaction is still watched, to be sent again after a reorg. */
  reorgWatchBlocks: number
  clock: Clock
  report: (event: RelayerEvent) => void
  onHead: (blockNumber: bigint) => void
  limits: RelayerLimits
}): Relayer {
  const { rpc, fees, account, chainId, confirmations, clock, report, limits } = deps
  const address = addressOf(account)
  const onFailure = (err: unknown) => report({ event: 'rpc.failed', err })
  const reader = createRelayReader({ rpc, address, chainId, onUnreadable: onFailure })
  const { sign, send } = createSender({ rpc, account, chainId, clock, report })
  const turns = createTurns(limits)
  const slots: Slot[] = []
  const mined = createMined({
    reader,
    clock,
    watchBlocks: deps.reorgWatchBlocks,
    onMissing: (slot) => void sendAgain(slot),
    limits,
  })
  const watcher = createWatcher({ look, longestPauseMs, onFailure, clock, limits })
  let viewed: { readonly headHash: string; readonly atMs: number; readonly isHalf: boolean } | undefined
  let nextNonce: number | undefined
  let gap: { readonly nonce: number; readonly sinceMs: number } | undefined
  let closed = false

  /** The node's count of what is mined and waits; never a nonce that one of ours already has. */
  async function countNonces(): Promise<number> {
    const [answer] = await rpc.batch([{ method: 'eth_getTransactionCount', params: [address, 'pending'] }])
    const counted = Number(quantityOf('eth_getTransactionCount', answer))
    const taken = [...mined.nonces(), ...slots.map(({ nonce }) => nonce)]
    return taken.reduce((free, nonce) => Math.max(free, nonce + 1), counted)
  }

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
    if (closed) return
    fees.sawBaseFee(head.baseFee)
    deps.onHead(head.number)
    const isKnown = viewed?.headHash === head.hash && !viewed.isHalf
    const isFresh = viewed !== undefined && clock.now() - viewed.atMs < limits.viewAgainMs
    if (slots.length > 0 && !(isKnown && isFresh)) await lookAtSlots(head)
    if (closed) return
    for (const uprooted of await mined.look(head)) {
      const { slot } = uprooted
      if (uprooted.how === 'gone') reopen(slot)
      else slot.call.onReorged?.(Promise.resolve({ kind: 'mined', receipt: uprooted.receipt }), 'moved')
    }
  }

  async function lookAtSlots(head: Head): Promise<void> {
    const asked = slots.flatMap((slot) => slot.forms.map(({ hash }) => ({ slot, hash })))
    const view = await reader.view(asked.map(({ hash }) => hash))
    if (closed) return
    const now = clock.now()
    for (const slot of new Set(asked.map((entry) => entry.slot))) {
      const receipts = view.receipts.filter((_, i) => asked[i]?.slot === slot)
      const step = nextStep(slot, receipts, { ...view, head }, { now, confirmations, limits })
      await take(slot, step)
    }
    await fillGap(view.usedNonces)
    // A nonce that is used and a receipt that is missing: the node has not said all of this block yet.
    const isHalf =
      view.receipts.includes('unreadable') || slots.some((slot) => slot.nonceUsedSinceMs !== undefined)
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
      const form = await turns.take(slot.call.purpose, () => sign(slot.call, slot.nonce, fee))
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
    if (end.kind === 'mined') mined.keep(slot, end.receipt)
    else if (end.why === 'foreign') {
      report({ event: 'relayer.displaced', nonce: slot.nonce })
      // Someone else counts with this key: our own count is worth nothing any more.
      nextNonce = undefined
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

  async function submitNow(call: RelayedCall): Promise<RelayEnd> {
    const fee = await fees.current()
    if (call.purpose === 'mint') await checkFunds(call.gas, fee)
    const { slot, ended } = await turns.take(call.purpose, async () => {
      if (closed) throw new SvcError('relayer_closed', 'the relayer is not running')
      const nonce = nextNonce ?? (await countNonces())
      let end: Slot['end'] = () => undefined
      const ended = new Promise<RelayEnd>((resolve) => {
        end = resolve
      })
      const slot = await open(call, nonce, fee, end)
      nextNonce = nonce + 1
      return { slot, ended }
    })
    await sentOrSlow(slot)
    watcher.hurry()
    return ended
  }

  /** A mint that cannot be paid for would keep its nonce, and every burn behind it, until there is money. */
  async function checkFunds(gas: bigint, { maxFeePerGas }: Fee): Promise<void> {
    const [answer] = await rpc.batch([{ method: 'eth_getBalance', params: [address, 'latest'] }])
    const out = slots.reduce((sum, { call }) => sum + call.gas, 0n)
    if (quantityOf('eth_getBalance', answer) >= (out + gas + limits.mintReserveGas) * maxFeePerGas) return
    report({ event: 'relayer.unfunded', address: account.address })
    throw new SvcError('relayer_unfunded', 'the relayer has no money for a mint beside its burns')
  }

  /** A node that took the transaction may never say so: receipts are looked for all the same. */
  async function sentOrSlow(slot: Slot): Promise<void> {
    const sent = new AbortController()
    const slow = clock.sleep(limits.receiptPollMaxMs, sent.signal)
    await Promise.race([send(slot).finally(() => sent.abort()), slow])
  }

  return {
    address,

    async start() {
      nextNonce = await countNonces()
    },

    async submit(call) {
      if (call.purpose === 'burn') return submitNow(call)
      await turns.admitMint()
      return submitNow(call).finally(turns.endMint)
    },

    resume({ forms: signed, ...owner }) {
      const ended = new Promise<RelayEnd>((end) => {
        const read = readForms(signed, address)
        const nonce = signed.at(-1)?.nonce
        if (!read || nonce === undefined) return end({ kind: 'displaced', why: 'foreign' })
        const call = { ...owner, ...read.call }
        // Not sent in this run: the first look sends it again.
        const times = { signedAtMs: clock.now(), sentAtMs: 0 }
        slots.push(openSlot({ nonce, call, forms: read.forms, end }, times))
      })
      watcher.hurry()
      if (owner.purpose === 'burn') return ended
      turns.countMint()
      return ended.finally(turns.endMint)
    },

    queue: () =>
      slots
        .flatMap(({ nonce, call, forms, signedAtMs, unfunded }) => {
          const newest = forms.at(-1)
          if (!newest) return []
          const { purpose } = call
          return [{ nonce, purpose, txHash: newest.hash, forms: forms.length, signedAtMs, unfunded }]
        })
        .sort((a, b) => a.nonce - b.nonce),

    close() {
      closed = true
      watcher.close()
    },
  }
}

function addressOf(account: PrivateKeyAccount): Address {
  const address = parseAddress(account.address)
  if (address === undefined) throw new SvcError('relayer_failed', 'the relayer key has no address')
  return address
}
