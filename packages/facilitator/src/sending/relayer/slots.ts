/** The transactions that are signed and have not ended, each in the slot of its txNonce. */
import type { GasPrice } from '@svc-zerc20/evm'
import type { Clock } from '../../payment/ports.js'
import type { RelayerEvent } from '../../telemetry/reports.js'
import type { Broadcast } from './broadcast.js'
import type { Mined } from './mined.js'
import { openSlot, type RelayEnd, type RelayedCall, type Slot } from './slot.js'

export type Slots = {
  readonly all: readonly Slot[]
  /** Signs a call for a txNonce; from then on it has a slot. */
  open(call: RelayedCall, txNonce: number, price: GasPrice, end: Slot['end']): Promise<Slot>
  /** Takes in a transaction that was signed earlier. */
  add(slot: Slot): void
  /**
   * The transaction ended: its slot is free, and its owner is told. A mined transaction is kept in case of a
   * reorg.
   */
  finish(slot: Slot, end: RelayEnd): void
  /** A reorg took back a mined transaction: the same bytes go out again, under the same txNonce. */
  reopen(slot: Slot): void
}

export function createSlots(deps: {
  readonly broadcast: Broadcast
  readonly mined: Pick<Mined, 'keep'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: RelayerEvent) => void
  /** Someone else used a txNonce of the key. */
  readonly onForeign: () => void
}): Slots {
  const { clock, report } = deps
  const { sign, send } = deps.broadcast
  const all: Slot[] = []
  return {
    all,

    async open(call, txNonce, price, end) {
      const form = await sign(call, txNonce, price)
      const now = clock.now()
      const slot = openSlot({ txNonce, call, forms: [form], end }, { signedAtMs: now, sentAtMs: now })
      all.push(slot)
      return slot
    },

    add: (slot) => void all.push(slot),

    finish(slot, end) {
      all.splice(all.indexOf(slot), 1)
      if (end.kind === 'mined') {
        const { gas = 0n, wei = 0n } = end.receipt.cost ?? {}
        report({ event: 'relayer.mined', txNonce: slot.txNonce, purpose: slot.call.purpose, gas, wei })
        deps.mined.keep(slot, end.receipt)
      }
      if (end.kind === 'displaced' && end.why === 'foreign') {
        report({ event: 'relayer.displaced', txNonce: slot.txNonce })
        deps.onForeign()
      }
      slot.end(end)
    },

    reopen(slot) {
      const ended = new Promise<RelayEnd>((end) => {
        slot.end = end
      })
      slot.signedAtMs = clock.now()
      all.push(slot)
      report({ event: 'relayer.reorged', txNonce: slot.txNonce })
      slot.call.onReorged?.(ended, 'gone')
      void send(slot)
    },
  }
}
