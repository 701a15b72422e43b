/**
 * Caps over several payments. They are judged while the amount is reserved, so that no other payment gets in
 * between.
 */
import type { BaseUnits } from '@svc-zerc20/protocol'
import type { PayerErrorCode } from '../payer-error.js'
import type { RuleName, Verdict } from '../verdict.js'
import type { Used } from './spend-state.js'

export type Cap = {
  readonly rule: RuleName
  readonly counts: 'total' | 'host' | 'day'
  readonly max: BaseUnits | undefined
  readonly code: PayerErrorCode
}

/** The amounts of a policy that count over several payments, in base units; undefined is no cap. */
type CapAmounts = {
  readonly maxTotal: BaseUnits | undefined
  readonly maxPerHost: BaseUnits | undefined
  readonly maxPerDay: BaseUnits | undefined
}

export const capsOf = ({ maxTotal, maxPerHost, maxPerDay }: CapAmounts): readonly Cap[] => [
  { rule: 'total', counts: 'total', max: maxTotal, code: 'total_exceeded' },
  { rule: 'per-host', counts: 'host', max: maxPerHost, code: 'host_total_exceeded' },
  { rule: 'per-day', counts: 'day', max: maxPerDay, code: 'day_total_exceeded' },
]

export const judgeCaps = (caps: readonly Cap[], used: Used, amount: bigint): Verdict[] =>
  caps.map(({ rule, counts, max, code }) => ({
    rule,
    passes: max !== undefined && used[counts] + amount > max ? 'no' : 'yes',
    limit: max === undefined ? 'unlimited' : `${max}`,
    asked: `${amount} above ${used[counts]} already spent or reserved`,
    code,
  }))

/** What may still be spent beneath every cap, today's and the host's included. Undefined without caps. */
export function leftOf(caps: readonly Cap[], used: Used): bigint | undefined {
  const lefts = caps.flatMap(({ max, counts }) => (max === undefined ? [] : [max - used[counts]]))
  const least = lefts.reduce<bigint | undefined>(
    (least, left) => (least === undefined || left < least ? left : least),
    undefined,
  )
  return least !== undefined && least < 0n ? 0n : least
}
