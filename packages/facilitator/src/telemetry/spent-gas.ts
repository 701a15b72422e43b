/** Gas costs of the relayer's transactions since the start, by purpose. */

import type { LogEvent } from './events.js'
import type { Metrics } from './metrics.js'
import type { RelayerEvent } from './reports.js'

export type Spent = { readonly transactions: number; readonly gas: bigint; readonly wei: bigint }

export type SpentGas = {
  hear(event: LogEvent): void
  of(purpose: Purpose): Spent
}

type Purpose = Extract<RelayerEvent, { event: 'relayer.mined' }>['purpose']

export function createSpentGas(metrics: Pick<Metrics, 'count'>): SpentGas {
  const none: Spent = { transactions: 0, gas: 0n, wei: 0n }
  const spent: Record<Purpose, Spent> = { burn: none, mint: none, sweep: none, distribution: none }
  return {
    hear(event) {
      if (event.event !== 'relayer.mined') return
      const { purpose, gas, wei } = event
      const before = spent[purpose]
      spent[purpose] = {
        transactions: before.transactions + 1,
        gas: before.gas + gas,
        wei: before.wei + wei,
      }
      metrics.count('svc_relayer_spent_wei_total', { purpose }, Number(wei))
    },
    of: (purpose) => spent[purpose],
  }
}
