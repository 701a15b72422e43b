/**
 * Who was refused, and why: in memory, for the operator. The same refusal of the same caller is counted, not listed again.
 * Of strangers, only the latest few of each path and reason have their own line, and those before them share one: a
 * flood from many addresses hides neither a seller nor another reason.
 */
import { type Clock, type ReasonCode, reasons } from '@svc-zerc20/protocol'

export type Refused = {
  /** Name of a seller, the address of a caller without a token, or `others`. */
  readonly caller: string
  readonly endpoint: string
  readonly reason: ReasonCode
  readonly meaning: string
  readonly count: number
  /** Unix seconds of the first one that was counted, and of the last. */
  readonly firstAt: number
  readonly at: number
}

export type RefusedBooks = ReturnType<typeof createRefusedBooks>

/** Cannot be taken for another: sellers are counted apart, and no address reads like this. */
const others = 'others'

/** A line, and its place in the order of refusals. */
type Line = { readonly refused: Refused; readonly call: number }

export function createRefusedBooks(deps: {
  readonly clock: Pick<Clock, 'now'>
  /** Strangers of one path and reason with their own lines. */
  readonly strangersMax: number
}) {
  // Paths are those of routes, and sellers those of the configuration, so callers cannot make more of either.
  const kinds = new Map<string, Map<string, Line>>()
  let calls = 0

  /** Adds to the line of a caller, which is the latest from then on. */
  function add(lines: Map<string, Line>, refused: Refused, call: number): void {
    const before = lines.get(refused.caller)
    lines.delete(refused.caller)
    lines.set(refused.caller, before ? joined(before, { refused, call }) : { refused, call })
  }

  return {
    saw({
      caller,
      isSeller,
      endpoint,
      reason,
    }: Pick<Refused, 'caller' | 'endpoint' | 'reason'> & { readonly isSeller: boolean }) {
      const kind = JSON.stringify([isSeller, endpoint, reason])
      const lines = kinds.get(kind) ?? new Map<string, Line>()
      kinds.set(kind, lines)
      const at = Math.floor(deps.clock.now() / 1000)
      calls += 1
      add(
        lines,
        { caller, endpoint, reason, meaning: reasons[reason].help, count: 1, firstAt: at, at },
        calls,
      )
      const strangers = [...lines.values()].filter(({ refused }) => refused.caller !== others)
      const [oldest] = strangers
      if (isSeller || !oldest || strangers.length <= deps.strangersMax) return
      lines.delete(oldest.refused.caller)
      add(lines, { ...oldest.refused, caller: others }, oldest.call)
    },
    /** The latest first. */
    list: (limit: number): readonly Refused[] =>
      [...kinds.values()]
        .flatMap((lines) => [...lines.values()])
        .toSorted((one, other) => other.call - one.call)
        .slice(0, limit)
        .map(({ refused }) => refused),
    /** All of them. */
    count: () => calls,
  }
}

const joined = (one: Line, other: Line): Line => ({
  refused: {
    ...one.refused,
    count: one.refused.count + other.refused.count,
    firstAt: Math.min(one.refused.firstAt, other.refused.firstAt),
    at: Math.max(one.refused.at, other.refused.at),
  },
  call: Math.max(one.call, other.call),
})
