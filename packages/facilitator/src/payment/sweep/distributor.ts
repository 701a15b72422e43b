/** Has the splitter's balance distributed when it is worth the gas. Failure is harmless: anybody may distribute at any time. */
import { type BaseUnits, backOffMs, type TxHash } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { Splitter, SweepEvent } from './ports.js'

export type DistributorView = {
  /** As last seen; undefined before the first look. */
  readonly undistributed?: BaseUnits
  readonly last?: { readonly txHash: TxHash; readonly amount: BaseUnits; readonly at: number }
  readonly lastFailure?: { readonly message: string; readonly at: number }
}

export type Distributor = {
  /** Looks at the balance, and distributes it when it is due. Does not wait for the transaction. */
  round(): Promise<void>
  view(): DistributorView
}

export function createDistributor(deps: {
  readonly splitter: Pick<Splitter, 'undistributed' | 'distribute'>
  readonly clock: Pick<Clock, 'now'>
  readonly minAmount: bigint
  /** The pause between two distributions. A start need not wait for it. */
  readonly intervalMs: number
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly report: (event: SweepEvent) => void
}): Distributor {
  const { splitter, clock, report } = deps
  let view: DistributorView = {}
  let isRunning = false
  let nextAtMs = 0
  let failures = 0
  const nowSeconds = () => Math.floor(clock.now() / 1000)

  async function distribute(amount: BaseUnits): Promise<void> {
    try {
      const { txHash } = await splitter.distribute()
      failures = 0
      nextAtMs = clock.now() + deps.intervalMs
      view = { undistributed: 0n as BaseUnits, last: { txHash, amount, at: nowSeconds() } }
      report({ event: 'fees.distributed', txHash, amount })
    } catch (err) {
      fail(err)
    } finally {
      isRunning = false
    }
  }

  function fail(err: unknown): void {
    failures += 1
    nextAtMs = clock.now() + backOffMs(failures, deps.retryMs.first, deps.retryMs.max)
    const message = err instanceof Error ? err.message : String(err)
    view = { ...view, lastFailure: { message, at: nowSeconds() } }
    report({ event: 'fees.distribute_failed', err })
  }

  return {
    async round() {
      if (isRunning || clock.now() < nextAtMs) return
      isRunning = true
      try {
        const undistributed = await splitter.undistributed()
        view = { ...view, undistributed }
        if (undistributed > 0n && undistributed >= deps.minAmount) void distribute(undistributed)
        else isRunning = false
      } catch (err) {
        isRunning = false
        fail(err)
      }
    },
    view: () => view,
  }
}
