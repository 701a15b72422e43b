/**
 * Sheds load: a request to settle or to verify that would wait too long is refused before any work is done for it, and told
 * when to come back. The requests of each kind that are being worked on are a line.
 *
 * The time that a new request would take is the number of requests in line, divided by how many leave it in a second. Its wait
 * is what goes beyond twice the usual time: that of a request when few are in line, its block included. While nobody in line is
 * late, the line was never seen at its limit and may do more, so more than twice as much is no wait.
 *
 * Payments under way come first: a settle may wait longest, then a verify. A new challenge leads to both, so it is made only
 * while both lines are short. It has no line of its own, because addresses and open challenges are limited already.
 */
import { accept, type Clock, type Result, reject } from '@svc-zerc20/protocol'
import type { Refusal } from './problem.js'

type LineKind = 'settle' | 'verify'

export type AskedKind = LineKind | 'challenge'

export type LoadShedder = ReturnType<typeof createLoadShedder>

export type LineLimits = {
  /** The longest wait of each kind. */
  readonly waitMs: Readonly<Record<AskedKind, number>>
  /** With fewer requests in line nobody is refused, and the usual time is learnt. */
  readonly freeMax: number
  /** Requests that leave in a second, before anything was measured. */
  readonly startPerSecond: number
  /** The shortest window, and the longest one while nobody leaves. */
  readonly windowMs: number
  readonly windowMsMax: number
}

/** The weight of one payment in the usual time, when few are in line. */
const usualShare = 0.05
/** A request just before a block takes nearly no time, and one just after it twice the usual. */
const usualTimes = 2
/** A request that takes longer has missed its block, or waited otherwise. */
const lateTimes = 3
/** Requests of one block leave together, so a window lasts two blocks. */
const windowTimes = 2 * usualTimes
/** While nobody is late, what is usual may be exceeded by so much before it counts as a wait. */
const growthTimes = 2.25
/** Longest `Retry-After`: while nobody leaves, the time of a wait has no end, and then the node may be back at once. */
const retryAfterSecondsMax = 60

export function createLoadShedder(limits: LineLimits, clock: Pick<Clock, 'now'>) {
  const lines: Readonly<Record<LineKind, Line>> = {
    settle: createLine(limits, clock),
    verify: createLine(limits, clock),
  }

  /** The wait of a request that comes now. */
  const waitMs = (kind: AskedKind) =>
    kind === 'settle' ? lines.settle.waitMs() : Math.max(lines.settle.waitMs(), lines.verify.waitMs())

  /** Why such a request has to come back later. */
  function refusalOf(kind: AskedKind): Refusal | undefined {
    const wouldWaitMs = waitMs(kind)
    if (wouldWaitMs <= limits.waitMs[kind]) return undefined
    const retryAfter = Math.min(Math.ceil(wouldWaitMs / 1000), retryAfterSecondsMax)
    return { ...reject('overloaded'), retryAfter }
  }

  return {
    waitMs,
    refusalOf,
    /** Does the work, in line, unless the wait would be too long. */
    async wait<T>(kind: LineKind, work: () => Promise<T>): Promise<Result<T> | Refusal> {
      const refused = refusalOf(kind)
      if (refused) return refused
      const leave = lines[kind].enter()
      try {
        return accept(await work())
      } finally {
        leave()
      }
    },
  }
}

type Line = { waitMs(): number; enter(): () => void }

function createLine(
  { freeMax, startPerSecond, windowMs, windowMsMax }: LineLimits,
  clock: Pick<Clock, 'now'>,
): Line {
  /** Oldest first. */
  const inLine = new Set<{ readonly enteredMs: number }>()
  let leavePerMs = startPerSecond / 1000
  let usualMs = 0
  let window = { startedMs: clock.now(), left: 0, late: 0 }

  const isLate = (tookMs: number) => usualMs > 0 && tookMs > lateTimes * usualMs
  const oldestMs = () => clock.now() - (inLine.values().next().value?.enteredMs ?? clock.now())

  /**
   * How many requests leave the line in a millisecond. It is measured over windows of time. If most that left in a window were
   * late, the line does no more than was seen. Otherwise it might have done more, so the rate only rises. A window in which
   * nobody left goes on: they may leave with the next block.
   */
  function measure(): number {
    const { startedMs, left, late } = window
    const tookMs = clock.now() - startedMs
    const isStill = left === 0 && inLine.size > 0
    if (tookMs < Math.max(isStill ? windowMsMax : windowMs, windowTimes * usualMs)) return leavePerMs
    const seen = left / tookMs
    if (isStill) leavePerMs /= 2
    else leavePerMs = late > left / 2 ? seen : Math.max(leavePerMs, seen)
    window = { startedMs: clock.now(), left: 0, late: 0 }
    return leavePerMs
  }

  return {
    waitMs() {
      const takesMs = inLine.size / measure()
      const notWaitMs = usualTimes * usualMs * (isLate(oldestMs()) ? 1 : growthTimes)
      return inLine.size < freeMax ? 0 : Math.max(0, takesMs - notWaitMs)
    },
    enter() {
      measure()
      const wereFew = inLine.size < freeMax
      const entry = { enteredMs: clock.now() }
      inLine.add(entry)
      return () => {
        const tookMs = clock.now() - entry.enteredMs
        // A crowd that came behind a request can only have made it slower.
        const isUsual = wereFew && (usualMs === 0 || tookMs < usualMs || inLine.size <= freeMax)
        inLine.delete(entry)
        window.left += 1
        if (isLate(tookMs)) window.late += 1
        if (isUsual) usualMs += (tookMs - usualMs) * (usualMs === 0 ? 1 : usualShare)
      }
    },
  }
}
