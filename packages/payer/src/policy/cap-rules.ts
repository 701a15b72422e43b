/** Caps over several payments. They are judged where the amount is reserved, so that nobody gets in between. */
import type { BaseUnits } from '@svc-zerc20/protocol'
import type { PayerErrorCode } from '../payer-error.js'
import type { Used } from '../totals/spend-state.js'
import type { Policy } from './policy.js'
import type { RuleName, Verdict } from './verdict.js'

export type Cap = {
  readonly rule: RuleName
  readonly counts: 'total' | 'host' | 'day'
  readonly max: BaseUnits | undefined
  readonly code: PayerErrorCode
}

export const capsOf = ({ maxTotal, maxPerHost, maxPerDay }: Policy): readonly Cap[] => [
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
