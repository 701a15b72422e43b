/** Who was refused, and why: in memory, for the operator. The same refusal of the same caller is counted, not listed again. */
import { createBoundedMap, type ReasonCode, reasons } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'

export type Refused = {
  /** Name of a seller, or the address of a caller without a token. */
  readonly caller: string
  readonly endpoint: string
  readonly reason: ReasonCode
  readonly meaning: string
  readonly count: number
  /** Unix seconds of the first one that was counted, and of the last. */
  readonly firstAt: number
  readonly at: number
}

export type RefusedBooks = {
  saw(refused: Pick<Refused, 'caller' | 'endpoint' | 'reason'>): void
  /** The latest first. */
  list(limit: number): readonly Refused[]
}

export function createRefusedBooks(deps: {
  readonly clock: Pick<Clock, 'now'>
  /** Kinds of refusals that are kept; the oldest are forgotten first. */
  readonly kindsMax: number
}): RefusedBooks {
  const seen = createBoundedMap<string, Refused>(deps.kindsMax)
  return {
    saw({ caller, endpoint, reason }) {
      const name = JSON.stringify([caller, endpoint, reason])
      const at = Math.floor(deps.clock.now() / 1000)
      const { count = 0, firstAt = at } = seen.get(name) ?? {}
      seen.set(name, {
        ...{ caller, endpoint, reason, meaning: reasons[reason].help },
        ...{ count: count + 1, firstAt, at },
      })
    },
    list: (limit) =>
      [...seen.keys()]
        .slice(-limit)
        .reverse()
        .flatMap((name) => seen.get(name) ?? []),
  }
}
