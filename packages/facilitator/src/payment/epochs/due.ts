/** Says when the payments of an epoch are minted: once their payers are a company, or one of them waited as long as it may. Pure. */
import type { Turn } from '../finalize/ports.js'
import type { AwaitingMint } from '../records.js'
import { companyAfter } from './company.js'
import { byLeaf } from './plan.js'
import type { BatchPace, BatchPorts } from './ports.js'

/** Why payments are minted now. Those that an operator asks for count as waited. */
export type Due = 'company' | 'waited'

type Bounds = { readonly pace: BatchPace; readonly fits: BatchPorts['fits'] }

/** Whether payments of an epoch are minted now, and the moment from which on they are a company for long enough. */
export function judgeDue(
  payments: readonly AwaitingMint[],
  turn: Turn,
  now: number,
  { pace, fits }: Bounds,
): { readonly due?: Due; readonly dueAtMs?: number | undefined } {
  const { draws, dueAtMs, isResting } = turn
  if (payments.some(({ challenge }) => turn.asked.has(challenge.nonce))) return { due: 'waited', dueAtMs }
  if (isResting) return { dueAtMs }
  // First: what others send to our addresses may leave no room for the company, and holds up nobody for longer.
  if (now >= waitsUntilMs(payments.map(waitsSinceMs), draws.time, pace)) return { due: 'waited', dueAtMs }
  if (!isCompany(payments, pace, fits)) return {}
  const isDueAtMs = dueAtMs ?? Math.floor(now + draws.time * pace.jitterMs)
  return { dueAtMs: isDueAtMs, ...(now >= isDueAtMs && { due: 'company' }) }
}

/** Whether the payers of the next proof are a company. Those that have no place in it are none. */
export function isCompany(
  payments: readonly AwaitingMint[],
  pace: BatchPace,
  fits: BatchPorts['fits'],
): boolean {
  const rising = payments.toSorted(byLeaf)
  const after = companyAfter(rising, pace)
  return after !== undefined && after <= fits(rising.map(({ burn }) => burn.leafIndex))
}

/** A burn that came late waits since its challenge expired. */
const waitsSinceMs = ({ acceptedAt, challenge }: AwaitingMint): number =>
  (acceptedAt ?? challenge.expiresAt) * 1000

/**
 * The moment at which the first payment has waited as long as it may, and a random while earlier, so that the time of the mint
 * does not name it. `chance`: in [0, 1), drawn once for each mint.
 */
function waitsUntilMs(
  sinceMs: readonly number[],
  chance: number,
  { waitMaxMs, jitterMs }: Pick<BatchPace, 'waitMaxMs' | 'jitterMs'>,
): number {
  const first = sinceMs.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  // Half of the wait at most, or a long jitter would mint a lone payment at once.
  return first + waitMaxMs - chance * Math.min(jitterMs, waitMaxMs / 2)
}
