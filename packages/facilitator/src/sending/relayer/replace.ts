/**
 * Moves an unmined transaction on: sends it again, replaces it at a higher gas price, or gives it up. `slot.ts` decides which.
 */
import type { GasPrices } from '@svc-zerc20/evm'
import type { Address, Clock } from '@svc-zerc20/protocol'
import type { Log } from '../../telemetry/events.js'
import type { Broadcast } from './broadcast.js'
import type { Priority } from './priority.js'
import { emptyCall, isPointless, type OpenStep, type RelayedCall, type Slot } from './slot.js'

export type ReplaceDeps = {
  readonly broadcast: Broadcast
  readonly gasPrices: GasPrices
  readonly priority: Pick<Priority, 'take'>
  /** The key's own, for calls that do nothing. */
  readonly address: Address
  /** Records the signed transaction of a call that does nothing, before it is sent. */
  readonly recordEmpty: RelayedCall['recordSigned']
  readonly clock: Clock
  readonly report: Log
  readonly limits: { readonly priceBumpsMax: number }
}

export function createTakeStep(deps: ReplaceDeps): (slot: Slot, step: OpenStep) => Promise<void> {
  const { gasPrices, clock, report } = deps
  const { sign, send } = deps.broadcast

  /**
   * Gives up a call that the node will not take, or that would do nothing any more. An empty transaction uses up its txNonce, so that the
   * transactions behind it can go on, and its owner may put the call into other transactions. A version of the
   * call can still be mined, but only under this txNonce: one of the two, never both.
   */
  async function giveUp(slot: Slot): Promise<void> {
    const { left: _, ...given } = slot.call
    const call = { ...given, ...emptyCall(deps.address, deps.recordEmpty) }
    const last = slot.versions.at(-1)
    // A node that has the call takes nothing else at its price.
    const raised = last && !last.isRefused ? gasPrices.raised(last.price) : undefined
    const version = await sign(call, slot.txNonce, raised ?? (await gasPrices.current()), 'replacement')
    slot.call = call
    slot.versions.push(version)
    slot.signedAtMs = clock.now()
    report({ event: 'relayer.given_up', txNonce: slot.txNonce, txHash: version.hash })
    void send(slot)
  }

  async function raisePrice(slot: Slot): Promise<void> {
    const last = slot.versions.at(-1)
    const price = last && gasPrices.raised(last.price)
    slot.signedAtMs = clock.now()
    if (price && slot.versions.length <= deps.limits.priceBumpsMax) {
      const version = await deps.priority.take(slot.call.purpose, () =>
        sign({ ...slot.call, ...slot.call.left?.() }, slot.txNonce, price, 'replacement'),
      )
      slot.versions.push(version)
      report({ event: 'relayer.price_raised', txNonce: slot.txNonce, txHash: version.hash })
    }
    void send(slot)
  }

  return async (slot, { kind }) => {
    if (kind === 'wait') return
    if (kind === 'give_up' || isPointless(slot.call)) await giveUp(slot)
    else if (kind === 'raise_price') await raisePrice(slot)
    // Not awaited: a send that hangs must not keep us from seeing receipts.
    else void send(slot)
  }
}
