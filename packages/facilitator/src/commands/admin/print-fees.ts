/** Fees as tables and sentences for people. */
import { textTable } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type * as schemas from '../../http/admin/fee-schemas.js'
import { gasMoney, money } from './money.js'

type Fees = z.infer<typeof schemas.fees>
type SweepAnswer = z.infer<typeof schemas.sweepAnswer>

const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

export function printFees(fees: Fees): string {
  const { due, elsewhere, underWay, swept, lastError, splitter, token } = fees
  const describeSum = (sum: { readonly payments: number; readonly amount: string }) =>
    `${money(sum.amount, token)} of ${sum.payments} payments`
  const last = swept.last ? `, last ${swept.last.amount} at ${time(swept.last.at)}` : ''
  return textTable([
    ['mode', fees.mode],
    [
      'treasury',
      fees.treasuryWei === undefined ? fees.treasury : `${fees.treasury}, ${gasMoney(fees.treasuryWei)}`,
    ],
    ...(fees.earned === undefined ? [] : [['earned', money(fees.earned, token)]]),
    ['due', describeSum(due)],
    ...(elsewhere ? [['elsewhere', `${describeSum(elsewhere)}, minted to another account`]] : []),
    [
      'under way',
      underWay ? `${describeSum(underWay)} in ${underWay.transaction ?? 'no transaction yet'}` : 'nothing',
    ],
    ['swept', `${describeSum(swept)} by ${swept.sweeps} sweeps${last}`],
    ['every', `${fees.sweepIntervalSeconds} s, at least ${money(fees.sweepMin, token)}`],
    ...(lastError ? [['last error', `${time(lastError.at)} ${lastError.message}`]] : []),
    ...(splitter ? [['splitter', describeSplitter(splitter)]] : []),
  ])
}

function describeSplitter({ address, undistributed, lastError }: NonNullable<Fees['splitter']>): string {
  const failed = lastError ? `, last error at ${time(lastError.at)}: ${lastError.message}` : ''
  return `${address}, ${undistributed ?? 'unknown'} base units to distribute${failed}`
}

export function printSweep({
  sweep,
  amount,
  payments,
  recipient,
  transaction,
  message,
}: SweepAnswer): string {
  const money = `${amount ?? '?'} base units of ${payments ?? '?'} payments to ${recipient ?? '?'}`
  const words: Readonly<Record<SweepAnswer['sweep'], string>> = {
    planned: `would sweep ${money}`,
    sent: `sweeps ${money} in ${transaction ?? '?'}`,
    under_way: `a sweep is under way: ${money} in ${transaction ?? 'no transaction yet'}`,
    nothing_due: 'no fee is due',
    too_little: 'the fees that are due are below fee.sweep_min',
    too_young:
      'the treasury sent money to the recipient a moment ago; try again when that is deep on the chain',
    failed: `nothing was swept: ${message ?? 'the daemon does not say why'}`,
  }
  return `${words[sweep]}\n`
}
