/**
 * Sends transactions of one key. A transaction keeps its nonce until that nonce is used on chain: it is sent
 * again when the node may have forgotten it, replaced at a higher fee when it is stuck, and never moved to
 * another nonce while it could still be mined. A nonce below ours that nobody uses is filled. So the queue
 * cannot wedge and nothing is sent twice.
 */
import { type Address, parseAddress, parseTxHash, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { type Hex, keccak256, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Clock, SignedTransaction } from '../payment/ports.js'
import type { Fee, Fees } from './fees.js'
import { type JsonRpc, quantityOf } from './json-rpc.js'
import { createRelayView, type RelayView } from './relay-view.js'
import type { Receipt } from './transfer-log.js'

export type RelayedCall = {
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  /** Awaited after signing and before anyone can see the transaction; again for each replacement. */
  readonly onSigned: (transaction: SignedTransaction) => Promise<void>
}

export type RelayEnd =
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** The nonce was used by a transaction that is not ours: this call was not executed by us. */
  | { readonly kind: 'displaced' }

export type RelayerEvent =
  | { readonly event: 'relayer.unfunded'; readonly address: string }
  | { readonly event: 'relayer.fee_raised'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.displaced'; readonly nonce: number }
  | { readonly event: 'relayer.gap_filled'; readonly nonce: number }
  | { readonly event: 'relayer.send_refused'; readonly nonce: number; readonly message: string }
  | { readonly event: 'rpc.failed'; readonly err: unknown }

export type Relayer = {
  readonly address: Address
  /** Reads the first free nonce. */
  start(): Promise<void>
  /** Throws only before anything was signed; afterwards it resolves, however long that takes. */
  submit(call: RelayedCall): Promise<RelayEnd>
  /** Takes up a transaction of an earlier run, in all its signed forms; to be called before `start`. */
  resume(forms: readonly SignedTransaction[], onSigned: RelayedCall['onSigned']): Promise<RelayEnd>
  pending(): number
  /** What is signed and has not ended, oldest nonce first. */
  queue(): readonly QueuedTransaction[]
  /** Stops watching and sending; what was submitted stays without an end. */
  close(): void
}

export type QueuedTransaction = {
  readonly nonce: number
  /** Of its newest signed form. */
  readonly txHash: TxHash
  /** How often it was signed: once, and again for each higher fee. */
  readonly forms: number
  readonly signedAtMs: number
  /** The node said that the key cannot pay for it. */
  readonly unfunded: boolean
}

type Variant = { readonly hash: TxHash; readonly raw: Hex; readonly fee: Fee }

type Slot = {
  readonly nonce: number
  readonly call: RelayedCall
  /** Every signed form of the transaction, newest last; any of them may be the one that is mined. */
  readonly variants: Variant[]
  signedAtMs: number
  sentAtMs: number
  nonceUsedSinceMs?: number
  /** The node said that the key cannot pay: more money helps then, a higher fee does not. */
  unfunded: boolean
  readonly end: (end: RelayEnd) => void
}

export type RelayerLimits = {
  readonly receiptPollFirstMs: number
  readonly receiptPollMaxMs: number
  readonly rpcBackoffMaxMs: number
  readonly rebroadcastMs: number
  readonly feeBumpAfterMs: number
  readonly feeBumpsMax: number
  readonly displacedAfterMs: number
  readonly minedKeptMax: number
}

/** More than a plain transfer takes on any chain; what is not used is not paid. */
const emptyCallGas = 100_000n

export function createRelayer(deps: {
  rpc: JsonRpc
  fees: Fees
  account: PrivateKeyAccount
  chainId: number
  confirmations: number
  clock: Clock
  report: (event: RelayerEvent) => void
  onHead: (blockNumber: bigint) => void
  limits: RelayerLimits
}): Relayer {
  const { rpc, fees, account, clock, report, limits } = deps
  const address = addressOf(account)
  const readView = createRelayView({
    rpc,
    address,
    chainId: deps.chainId,
    onUnreadable: (err) => report({ event: 'rpc.failed', err }),
  })
  const slots: Slot[] = []
  /** The last ones that were mined, by nonce: a reorg can take a block back. */
  const mined = new Map<number, Slot>()
  let nextNonce: number | undefined
  let gap: { readonly nonce: number; readonly sinceMs: number } | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let watching = false
  let closed = false
  let wake = new AbortController()

  async function sign(call: RelayedCall, nonce: number, fee: Fee): Promise<Variant> {
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: deps.chainId,
      nonce,
      to: call.to,
      data: call.data,
      gas: call.gas,
      ...fee,
    })
    const hash = parseTxHash(keccak256(raw))
    if (hash === undefined) throw new SvcError('relayer_failed', 'a signed transaction has no hash')
    await call.onSigned({ nonce, hash, raw })
    return { hash, raw, fee }
  }

  /** One at a time, so that a nonce is taken only once its transaction is signed and recorded. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  /** The node's count of what is mined and waits; never a nonce that one of ours already has. */
  async function countNonces(): Promise<number> {
    const [answer] = await rpc.batch([
      { method: 'eth_getTransactionCount', params: [account.address, 'pending'] },
    ])
    const counted = Number(quantityOf('eth_getTransactionCount', answer))
    const taken = [...mined.keys(), ...slots.map(({ nonce }) => nonce)]
    return taken.reduce((free, nonce) => Math.max(free, nonce + 1), counted)
  }

  async function open(call: RelayedCall, nonce: number, fee: Fee, end: Slot['end']): Promise<Slot> {
    const variant = await sign(call, nonce, fee)
    const now = clock.now()
    const slot = { nonce, call, variants: [variant], signedAtMs: now, sentAtMs: now, unfunded: false, end }
    slots.push(slot)
    return slot
  }

  async function send(slot: Slot): Promise<void> {
    const variant = slot.variants.at(-1)
    if (!variant) return
    slot.sentAtMs = clock.now()
    try {
      const [answer] = await rpc.batch([{ method: 'eth_sendRawTransaction', params: [variant.raw] }])
      const refusal = answer && 'error' in answer ? answer.error : undefined
      // Only now it waits for a block: the time without money does not count as being stuck.
      if (slot.unfunded) slot.signedAtMs = slot.sentAtMs
      slot.unfunded = false
      if (refusal) hearRefusal(slot, `${refusal.message}`)
    } catch (err) {
      // The node may have taken it all the same: the same bytes go out again, under the same nonce.
      report({ event: 'rpc.failed', err })
    }
  }

  function hearRefusal(slot: Slot, message: string): void {
    // Known already, or mined meanwhile: the receipt will tell.
    if (/already ?known|known transaction|already imported|nonce too low/i.test(message)) return
    if (/insufficient funds|doesn't have enough funds/i.test(message)) {
      slot.unfunded = true
      report({ event: 'relayer.unfunded', address: account.address })
    } else report({ event: 'relayer.send_refused', nonce: slot.nonce, message })
  }

  async function watch(): Promise<void> {
    if (watching) return
    watching = true
    let pauseMs: number = limits.receiptPollFirstMs
    while (slots.length > 0 && !closed) {
      await clock.sleep(pauseMs, wake.signal)
      if (wake.signal.aborted) {
        wake = new AbortController()
        pauseMs = limits.receiptPollFirstMs
        continue
      }
      let longestMs = limits.receiptPollMaxMs
      try {
        await look()
      } catch (err) {
        report({ event: 'rpc.failed', err })
        longestMs = limits.rpcBackoffMaxMs
      }
      pauseMs = Math.min(pauseMs * 2, longestMs)
    }
    watching = false
  }

  async function look(): Promise<void> {
    const asked = slots.flatMap((slot) => slot.variants.map(({ hash }) => ({ slot, hash })))
    const view = await readView(asked.map(({ hash }) => hash))
    if (closed) return
    fees.sawBaseFee(view.baseFee)
    deps.onHead(view.headNumber)
    for (const slot of new Set(asked.map((entry) => entry.slot))) {
      const receipts = view.receipts.filter((_, i) => asked[i]?.slot === slot)
      await advance(slot, receipts, view)
    }
    await fillGap(view.usedNonces)
  }

  async function advance(
    slot: Slot,
    receipts: RelayView['receipts'],
    { headNumber, usedNonces }: RelayView,
  ): Promise<void> {
    const now = clock.now()
    const receipt = receipts.find((found) => typeof found === 'object')
    if (receipt) {
      delete slot.nonceUsedSinceMs
      const depth = headNumber - receipt.blockNumber + 1n
      if (depth >= BigInt(deps.confirmations)) finish(slot, { kind: 'mined', receipt })
      return
    }
    if (usedNonces > slot.nonce) {
      // A node that lags may show the nonce used before it shows the receipt.
      slot.nonceUsedSinceMs ??= now
      const isAbsent = !receipts.includes('unreadable')
      if (isAbsent && now - slot.nonceUsedSinceMs >= limits.displacedAfterMs)
        finish(slot, { kind: 'displaced' })
      return
    }
    delete slot.nonceUsedSinceMs
    const isStuck = slot.nonce === usedNonces && now - slot.signedAtMs >= limits.feeBumpAfterMs
    if (isStuck && !slot.unfunded) await raiseFee(slot)
    // Not awaited: a send that hangs must not keep us from seeing receipts.
    else if (now - slot.sentAtMs >= limits.rebroadcastMs) void send(slot)
  }

  async function raiseFee(slot: Slot): Promise<void> {
    const last = slot.variants.at(-1)
    const fee = last && fees.raised(last.fee)
    slot.signedAtMs = clock.now()
    if (fee && slot.variants.length <= limits.feeBumpsMax) {
      const variant = await inTurn(() => sign(slot.call, slot.nonce, fee))
      slot.variants.push(variant)
      report({ event: 'relayer.fee_raised', nonce: slot.nonce, txHash: variant.hash })
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
    const call = { to: address, data: '0x', gas: emptyCallGas, onSigned: async () => undefined } as const
    const lost = mined.get(nonce)
    if (lost) {
      lost.signedAtMs = now
      slots.push(lost)
    }
    const slot = lost ?? (await open(call, nonce, await fees.current(), () => undefined))
    report({ event: 'relayer.gap_filled', nonce })
    void send(slot)
  }

  function finish(slot: Slot, end: RelayEnd): void {
    slots.splice(slots.indexOf(slot), 1)
    if (end.kind === 'mined') keepMined(slot)
    else {
      report({ event: 'relayer.displaced', nonce: slot.nonce })
      // Someone else counts with this key: our own count is worth nothing any more.
      nextNonce = undefined
    }
    slot.end(end)
  }

  function keepMined(slot: Slot): void {
    mined.set(slot.nonce, slot)
    const [oldest] = mined.keys()
    if (mined.size > limits.minedKeptMax && oldest !== undefined) mined.delete(oldest)
  }

  return {
    address,

    async start() {
      nextNonce = await countNonces()
    },

    async submit(call) {
      const fee = await fees.current()
      const { slot, ended } = await inTurn(async () => {
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
      wake.abort()
      void watch()
      return ended
    },

    resume(forms, onSigned) {
      return new Promise((end) => {
        const [newest] = forms.slice(-1)
        if (!newest) return end({ kind: 'displaced' })
        const { to, data, gas } = parseTransaction(newest.raw)
        const call = {
          to: parseAddress(to) ?? address,
          data: data ?? '0x',
          gas: gas ?? emptyCallGas,
          onSigned,
        }
        const variants = forms.map(({ hash, raw }) => ({ hash, raw, fee: feeOf(raw) }))
        // Not sent in this run: the first look sends it again.
        slots.push({
          nonce: newest.nonce,
          call,
          variants,
          signedAtMs: clock.now(),
          sentAtMs: 0,
          unfunded: false,
          end,
        })
        void watch()
      })
    },

    pending: () => slots.length,

    queue: () =>
      slots
        .flatMap(({ nonce, variants, signedAtMs, unfunded }) => {
          const newest = variants.at(-1)
          return newest ? [{ nonce, txHash: newest.hash, forms: variants.length, signedAtMs, unfunded }] : []
        })
        .sort((a, b) => a.nonce - b.nonce),

    close() {
      closed = true
      wake.abort()
    },
  }

  /** A node that took the transaction may never say so: receipts are looked for all the same. */
  async function sentOrSlow(slot: Slot): Promise<void> {
    const sent = new AbortController()
    const slow = clock.sleep(limits.receiptPollMaxMs, sent.signal)
    await Promise.race([send(slot).finally(() => sent.abort()), slow])
  }
}

function feeOf(raw: Hex): Fee {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

function addressOf(account: PrivateKeyAccount): Address {
  const address = parseAddress(account.address)
  if (address === undefined) throw new SvcError('relayer_failed', 'the relayer key has no address')
  return address
}
