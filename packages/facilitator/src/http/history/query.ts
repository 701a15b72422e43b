/** Queries of participants. Invalid values are refused, not guessed. Unknown keys are ignored. */
import { accept, type Result, reject } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type { HistoryFilter } from '../../history/questions.js'
import type { Bounds } from '../../history/scopes.js'
import type * as schemas from './schemas.js'

type Period = { readonly since: number; readonly until: number }

type Ranges = {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly minAmount?: bigint | undefined
  readonly maxAmount?: bigint | undefined
}

export function readQuery<T extends Ranges>(schema: z.ZodType<T>, query: unknown): Result<T> {
  const read = schema.safeParse(query)
  if (!read.success) return malformed(read.error)
  const { since, until, minAmount, maxAmount } = read.data
  if (since !== undefined && until !== undefined) {
    const period = readPeriod({ since, until })
    if (!period.ok) return period
  }
  if (minAmount !== undefined && maxAmount !== undefined && minAmount > maxAmount) {
    return reject('malformed_request', 'maxAmount: is below minAmount')
  }
  return accept(read.data)
}

export function readPeriod({ since, until }: Period): Result<Period> {
  if (since < until) return accept({ since, until })
  return reject('malformed_request', 'until: has to be later than since')
}

export function readBody<T>(schema: z.ZodType<T>, body: unknown): Result<T> {
  const read = schema.safeParse(body ?? {})
  return read.success ? accept(read.data) : malformed(read.error)
}

function malformed({ issues: [issue] }: z.ZodError) {
  const where = issue?.path.join('.') || 'request'
  return reject('malformed_request', `${where}: ${issue?.message ?? 'malformed'}`)
}

/** What was asked for, within what the participant cannot choose. */
export function filterOf(
  bounds: Bounds,
  { phase, since, until, minAmount, maxAmount }: Omit<z.infer<typeof schemas.exportQuery>, 'format'>,
): HistoryFilter {
  return { ...bounds, phase, since, until, amountMin: minAmount, amountMax: maxAmount }
}
