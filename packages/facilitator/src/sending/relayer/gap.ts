/**
 * A txNonce below all of ours that stays unused keeps everything waiting: the node dropped a transaction of an earlier
 * process, or a reorg took back one of ours.
 */
import type { GasPrices } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { RelayerEvent } from '../../telemetry/reports.js'
import type { Broadcast } from './broadcast.js'
import type { Mined } from './mined.js'
import { emptyCall, type Slot } from './slot.js'
import type { Slots } from './slots.js'
import type { Asked } from './view.js'

/** Fills the first unused txNonce when it has been a gap for long enough. */
export type FillGap = (firstUnused: number, times: Asked) => Promise<void>

export function createFillGap(deps: {
  readonly slots: Pick<Slots, 'all' | 'open' | 'reopen'>
  readonly mined: Pick<Mined, 'take'>
  readonly broadcast: Pick<Broadcast, 'send'>
  readonly gasPrices: Pick<GasPrices, 'current'>
  /** The key's own, for calls that do nothing. */
  readonly address: Address
  readonly report: (event: RelayerEvent) => void
  readonly patienceMs: number
}): FillGap {
  const { slots } = deps
  const isGap = createIsGap(deps)
  return async (firstUnused, times) => {
    if (!isGap(slots.all, firstUnused, times)) return
    deps.report({ event: 'relayer.gap_filled', txNonce: firstUnused })
    const lost = deps.mined.take(firstUnused)
    if (lost) slots.reopen(lost)
    else {
      const call = { purpose: 'burn', ...emptyCall(deps.address) } as const
      void deps.broadcast.send(
        await slots.open(call, firstUnused, await deps.gasPrices.current(), () => undefined),
      )
    }
  }
}

/** Says whether the first unused txNonce has been a gap for long enough to be filled. */
function createIsGap(deps: { readonly patienceMs: number }) {
  let gap: { readonly txNonce: number; readonly sinceMs: number } | undefined
  return (slots: readonly Slot[], firstUnused: number, { askedMs, answeredMs }: Asked): boolean => {
    if (slots.length === 0 || !slots.every((slot) => slot.txNonce > firstUnused)) {
      gap = undefined
      return false
    }
    if (gap?.txNonce !== firstUnused) gap = { txNonce: firstUnused, sinceMs: answeredMs }
    return askedMs - gap.sinceMs >= deps.patienceMs
  }
}
