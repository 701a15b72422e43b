/** Gas costs of the relayer's transactions since the start, by purpose, and in the last 24 hours. */

import type { Clock } from '@svc-zerc20/protocol'
import type { Purpose } from '../payment/records.js'
import type { LogEvent } from './events.js'
import type { Metrics } from './metrics.js'

type Spent = { readonly transactions: number; readonly gas: bigint; readonly wei: bigint }

const hourMs = 3_600_000

export function createSpentGas(metrics: Pick<Metrics, 'count'>, clock: Pick<Clock, 'now'>) {
  const none: Spent = { transactions: 0, gas: 0n, wei: 0n }
  const spent: Record<Purpose, Spent> = { burn: none, mint: none, sweep: none, distribution: none }
  /** Costs by hour; older hours are dropped. */
  const hours: { readonly hour: number; readonly purpose: Purpose; wei: bigint }[] = []
  // An alert on an increase needs the value before the first one.
  for (const purpose of Object.keys(spent)) metrics.count('svc_relayer_spent_wei_total', { purpose }, 0)
  const hourNow = () => Math.floor(clock.now() / hourMs)
  return {
    hear(event: LogEvent): void {
      if (event.event !== 'relayer.mined') return
      const { purpose, gas, wei } = event
      const before = spent[purpose]
      spent[purpose] = {
        transactions: before.transactions + 1,
        gas: before.gas + gas,
        wei: before.wei + wei,
      }
      const hour = hourNow()
      while (hours[0] && hours[0].hour <= hour - 24) hours.shift()
      const last = hours.findLast((each) => each.purpose === purpose)
      if (last?.hour === hour) last.wei += wei
      else hours.push({ hour, purpose, wei })
      metrics.count('svc_relayer_spent_wei_total', { purpose }, Number(wei))
    },
    of: (purpose: Purpose) => spent[purpose],
    /** Wei of the last 24 hours, or since the start: for one purpose, or for all. */
    lastDay: (of?: Purpose) =>
      hours
        .filter(({ hour, purpose }) => (of === undefined || purpose === of) && hour > hourNow() - 24)
        .reduce((sum, { wei }) => sum + wei, 0n),
  }
}
