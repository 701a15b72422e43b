/**
 * Sends transactions of one key. A transaction keeps its nonce until that nonce is used on chain: it is sent
 * again when the node may have forgotten it, replaced at a higher fee when it is stuck, and never moved to
 * another nonce while it could still be mined. So the queue cannot wedge and nothing is sent twice.
 */
import { type Address, parseTxHash, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Clock } from '../payment/ports.js'
import { baseFeeOf, type Fee, type Fees } from './fees.js'
import { type JsonRpc, resultOf } from './json-rpc.js'
import { parseReceipt, type Receipt } from './transfer-log.js'

export type RelayedCall = {
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  /** Awaited after signing and before anyone can see the transaction; again for each replacement. */
  readonly onSigned: (txHash: TxHash) => Promise<void>
}

export type RelayEnd =
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** The nonce was used by a transaction that is not ours: this call was not executed by us. */
  | { readonly kind: 'displaced' }

export type RelayerEvent =
  | { readonly event: 'relayer.unfunded'; readonly address: string }
  | { readonly event: 'relayer.fee_raised'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.displaced'; readonly nonce: number }
  | { readonly event: 'relayer.send_refused'; readonly nonce: number; readonly message: string }
  | { readonly event: 'rpc.failed'; readonly err: unknown }

export type Relayer = {
  /** Reads the first free nonce. */
  start(): Promise<void>
  /** Throws only before anything was signed; afterwards it resolves, however long that takes. */
  submit(call: RelayedCall): Promise<RelayEnd>
  pending(): number
  close(): void
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
  end: (end: RelayEnd) => void
}

export type RelayerLimits = {
  readonly receiptPollFirstMs: number
  readonly receiptPollMaxMs: number
  readonly rebroadcastMs: number
  readonly feeBumpAfterMs: number
  readonly feeBumpsMax: number
  readonly displacedAfterMs: number
}

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
  const slots: Slot[] = []
  let nextNonce: number | undefined
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
    await call.onSigned(hash)
    return { hash, raw, fee }
  }

  /** One at a time, so that a nonce is taken only once its transaction is signed and recorded. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  async function send(slot: Slot): Promise<void> {
    const variant = slot.variants.at(-1)
    if (!variant) return
    slot.sentAtMs = clock.now()
    try {
      const [answer] = await rpc.batch([{ method: 'eth_sendRawTransaction', params: [variant.raw] }])
      if (answer && 'error' in answer) reportRefusal(slot, answer.error.message)
    } catch (err) {
      // The node may have taken it all the same: the same bytes go out again, under the same nonce.
      report({ event: 'rpc.failed', err })
    }
  }

  function reportRefusal(slot: Slot, message: string): void {
    // Known already, or mined meanwhile: the receipt will tell.
    if (/already known|known transaction|already imported|nonce too low/i.test(message)) return
    if (/insufficient funds|doesn't have enough funds/i.test(message)) {
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
      pauseMs = Math.min(pauseMs * 2, limits.receiptPollMaxMs)
      try {
        await look()
      } catch (err) {
        report({ event: 'rpc.failed', err })
        pauseMs = limits.receiptPollMaxMs
      }
    }
    watching = false
  }

  /** One round trip: every receipt that may have come, the head, and how far our nonces are used. */
  async function look(): Promise<void> {
    const asked = slots.flatMap((slot) => slot.variants.map(({ hash }) => ({ slot, hash })))
    const answers = await rpc.batch([
      { method: 'eth_getTransactionCount', params: [account.address, 'latest'] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ...asked.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    ])
    const usedNonces = Number(resultOf('eth_getTransactionCount', answers[0]))
    const head = resultOf('eth_getBlockByNumber', answers[1]) as { number: string }
    const headNumber = BigInt(head.number)
    fees.sawBaseFee(baseFeeOf(head))
    deps.onHead(headNumber)
    const mined = new Map<Slot, Receipt>()
    for (const [i, { slot }] of asked.entries()) {
      const receipt = parseReceipt(resultOf('eth_getTransactionReceipt', answers[i + 2]))
      if (receipt) mined.set(slot, receipt)
    }
    for (const slot of [...slots]) await advance(slot, mined.get(slot), headNumber, usedNonces)
  }

  async function advance(
    slot: Slot,
    receipt: Receipt | undefined,
    headNumber: bigint,
    usedNonces: number,
  ): Promise<void> {
    const now = clock.now()
    if (receipt) {
      const depth = headNumber - receipt.blockNumber + 1n
      if (depth >= BigInt(deps.confirmations)) finish(slot, { kind: 'mined', receipt })
      return
    }
    if (usedNonces > slot.nonce) {
      // A node that lags may show the nonce used before it shows the receipt.
      slot.nonceUsedSinceMs ??= now
      if (now - slot.nonceUsedSinceMs < limits.displacedAfterMs) return
      report({ event: 'relayer.displaced', nonce: slot.nonce })
      finish(slot, { kind: 'displaced' })
      return
    }
    delete slot.nonceUsedSinceMs
    const isNext = slot.nonce === usedNonces
    if (isNext && now - slot.signedAtMs >= limits.feeBumpAfterMs) await raiseFee(slot)
    else if (now - slot.sentAtMs >= limits.rebroadcastMs) await send(slot)
  }

  async function raiseFee(slot: Slot): Promise<void> {
    const last = slot.variants.at(-1)
    if (!last) return
    slot.signedAtMs = clock.now()
    if (slot.variants.length <= limits.feeBumpsMax) {
      const variant = await inTurn(() => sign(slot.call, slot.nonce, fees.raised(last.fee)))
      slot.variants.push(variant)
      report({ event: 'relayer.fee_raised', nonce: slot.nonce, txHash: variant.hash })
    }
    await send(slot)
  }

  function finish(slot: Slot, end: RelayEnd): void {
    slots.splice(slots.indexOf(slot), 1)
    slot.end(end)
  }

  return {
    async start() {
      nextNonce = Number(await rpc.call('eth_getTransactionCount', [account.address, 'pending']))
    },

    async submit(call) {
      const fee = await fees.current()
      const { slot, ended } = await inTurn(async () => {
        if (nextNonce === undefined || closed)
          throw new SvcError('relayer_closed', 'the relayer is not running')
        const nonce = nextNonce
        const variant = await sign(call, nonce, fee)
        nextNonce = nonce + 1
        const now = clock.now()
        const slot: Slot = {
          nonce,
          call,
          variants: [variant],
          signedAtMs: now,
          sentAtMs: now,
          end: () => undefined,
        }
        slots.push(slot)
        const ended = new Promise<RelayEnd>((resolve) => {
          slot.end = resolve
        })
        return { slot, ended }
      })
      await send(slot)
      wake.abort()
      void watch()
      return ended
    },

    pending: () => slots.length,
    close() {
      closed = true
      wake.abort()
    },
  }
}
