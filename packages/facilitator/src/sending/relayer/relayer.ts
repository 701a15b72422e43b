/**
 * Sends transactions of one key. A transaction keeps its txNonce until that txNonce is used on chain. It is
 * sent again when the node may have forgotten it, replaced at a higher price when it is stuck, and never moved
 * to another txNonce while it could still be mined. An unused txNonce below ours is filled. The queue
 * therefore cannot wedge, and nothing is sent twice. Burns and mints share the key and its queue; burns go
 * first.
 */
import { type GasPrice, type GasPrices, type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import { type Address, type Clock, inTime, parseAddress, SvcError } from '@svc-zerc20/protocol'
import type { SendingAccount } from '../../config/secrets/sending-account.js'
import type { QueuedTransaction, SignedTransaction } from '../../payment/records.js'
import type { Log } from '../../telemetry/events.js'
import { createBroadcast } from './broadcast.js'
import type { MinedBlock } from './mined.js'
import { createPriority } from './priority.js'
import { createRelayQueue, type QueueLimits } from './queue.js'
import { createRhythm } from './rhythm.js'
import { type CallOwner, openSlot, type RelayEnd, type RelayedCall, readVersions, type Slot } from './slot.js'
import { countTransactions, createTxNonces } from './tx-nonces.js'
import { createRelayReader } from './view.js'
import { createWatch, type WatchLimits } from './watch.js'

export type Relayer = {
  readonly address: Address
  /** Transactions of the key that are mined. */
  minedCount(): Promise<number>
  /** Counts the txNonces of the key. */
  start(): Promise<void>
  /**
   * Throws only before anything was signed; afterwards it resolves, however long that takes. A mint waits while
   * enough of them are out, and is refused with `relayer_unfunded` when paying for it could leave burns unpaid.
   */
  submit(call: RelayedCall): Promise<RelayEnd>
  /** Takes up a transaction of an earlier run, in all its signed versions; to be called before `start`. */
  resume(earlier: EarlierTransaction): Promise<RelayEnd>
  /** A transaction of an earlier run that is mined and not deep yet; to be called before `start`. */
  watch(earlier: EarlierTransaction, block: MinedBlock): void
  /** How long no block can come, as far as that is known. */
  untilBlockMs(): number
  /** Transactions that are signed and have not ended, lowest txNonce first. */
  queue(): readonly QueuedTransaction[]
  /**
   * Stops watching and sending. Submitted calls stay without an end. Resolves when the records know all that was signed:
   * the next sender with this key would give its txNonce again.
   */
  close(): Promise<void>
}

export type EarlierTransaction = CallOwner & {
  /** Oldest first. */
  readonly versions: readonly SignedTransaction[]
}

export type RelayerLimits = QueueLimits &
  WatchLimits & {
    readonly mintsInFlightMax: number
    readonly mintQueueMax: number
    readonly mintReserveGas: bigint
  }

export function createRelayer(deps: {
  rpc: JsonRpc
  gasPrices: GasPrices
  account: SendingAccount
  chainId: number
  confirmations: number
  /** How many blocks deep a mined transaction is still watched, to be sent again after a reorg. */
  reorgWatchBlocks: number
  clock: Clock
  report: Log
  onHead: (blockNumber: bigint) => void
  /** Remembers a transaction that only uses up its txNonce, before anyone else can see it. */
  recordEmpty: RelayedCall['recordSigned']
  limits: RelayerLimits
}): Relayer {
  const { rpc, gasPrices, account, chainId, clock, report, limits } = deps
  const address = addressOf(account)
  const onFailure = (err: unknown) => report({ event: 'rpc.failed', err })
  const reader = createRelayReader({ rpc, address, chainId, onUnreadable: onFailure })
  const broadcast = createBroadcast({ ...deps, from: address })
  const priority = createPriority(limits)
  // A look takes a while beside the pause before it.
  const rhythm = createRhythm({ gapMsMax: 1.5 * limits.receiptPollMaxMs })
  const queue = createRelayQueue({
    ...deps,
    rhythm,
    reader,
    broadcast,
    priority,
    address,
    onForeign: () => txNonces.forget(),
  })
  const txNonces = createTxNonces({ rpc, address, ours: queue.txNonces })
  const { poll, longestPauseMs } = queue
  const isAwaited = () => queue.slots.length > 0
  const watch = createWatch({ poll, longestPauseMs, isAwaited, rhythm, onFailure, clock, limits })

  async function submitNow(call: RelayedCall): Promise<RelayEnd> {
    const price = await gasPrices.current()
    if (call.purpose !== 'burn') await checkFunds(call, price)
    let end: Slot['end'] = () => undefined
    const ended = new Promise<RelayEnd>((resolve) => {
      end = resolve
    })
    const slot = await priority.take(call.purpose, () =>
      txNonces.take((txNonce) => queue.open(call, txNonce, price, end)),
    )
    // A node may take the transaction and never say so. Receipts are looked for all the same.
    await inTime(broadcast.send(slot), limits.receiptPollMaxMs, clock)
    watch.pollSoon()
    return ended
  }

  /**
   * A mint that cannot be paid for would keep its txNonce, and hold up every burn behind it, until there is
   * money.
   */
  async function checkFunds({ gas, purpose }: RelayedCall, { maxFeePerGas }: GasPrice): Promise<void> {
    const [answer] = await rpc.batch([{ method: 'eth_getBalance', params: [address, 'latest'] }])
    const out = queue.slots.reduce((sum, { call }) => sum + call.gas, 0n)
    if (quantityOf('eth_getBalance', answer) >= (out + gas + limits.mintReserveGas) * maxFeePerGas) return
    report({ event: 'relayer.unfunded', address: account.address })
    throw new SvcError(
      'relayer_unfunded',
      `${account.address} cannot pay the gas of a ${purpose} beside its burns`,
    )
  }

  return {
    address,
    minedCount: () => countTransactions(rpc, address, 'latest'),
    start: () => txNonces.count(),
    untilBlockMs: () => rhythm.untilDueMs(clock.now()),

    async submit(call) {
      if (call.purpose === 'burn') return submitNow(call)
      await priority.admitMint()
      return submitNow(call).finally(priority.endMint)
    },

    resume(earlier) {
      const { purpose } = earlier
      const ended = new Promise<RelayEnd>((end) => {
        const slot = slotOf(earlier, address, clock.now(), end)
        if (slot) queue.add(slot)
        else end({ kind: 'displaced', why: 'foreign' })
      })
      watch.pollSoon()
      if (purpose === 'burn') return ended
      priority.countMint()
      return ended.finally(priority.endMint)
    },

    watch(earlier, block) {
      const slot = slotOf(earlier, address, clock.now(), () => undefined)
      if (!slot) return
      queue.keep(slot, block)
      watch.pollSoon()
    },

    queue: () => queue.slots.flatMap(toQueued).sort((a, b) => a.txNonce - b.txNonce),

    close() {
      queue.close()
      watch.close()
      return broadcast.close()
    },
  }
}

export function addressOf(account: Pick<SendingAccount, 'address'>): Address {
  const address = parseAddress(account.address)
  if (address === undefined) throw new SvcError('invariant', 'the relayer key has no address')
  return address
}

/**
 * The slot of a transaction of an earlier run. This run has not sent it: the first look that misses it does. Undefined when
 * another account signed it.
 */
function slotOf(
  { versions: signed, ...owner }: EarlierTransaction,
  self: Address,
  now: number,
  end: Slot['end'],
): Slot | undefined {
  const read = readVersions(signed, self)
  const { txNonce, from } = signed.at(-1) ?? {}
  // Its txNonce is none of ours: our next ones would follow it, and all below would be a gap.
  if (!read || txNonce === undefined || from !== self) return undefined
  const times = { signedAtMs: now, sentAtMs: 0 }
  return openSlot({ txNonce, call: { ...owner, ...read.call }, versions: read.versions, end }, times)
}

function toQueued({ txNonce, call, versions, signedAtMs, unfunded }: Slot): QueuedTransaction[] {
  const newest = versions.at(-1)
  if (!newest) return []
  return [
    { txNonce, purpose: call.purpose, txHash: newest.hash, versions: versions.length, signedAtMs, unfunded },
  ]
}
