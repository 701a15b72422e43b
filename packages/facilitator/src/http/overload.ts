/**
 * Sheds load: a request to settle or to verify that would wait too long is refused before any work is done for it, and told
 * when to come back. The requests of each kind that are being worked on are a line.
 *
 * The time that a new request would take is the number of requests in line, divided by how many leave it in a second. Its wait
 * is what goes beyond twice the usual time: that of a request when few are in line, its block included.
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
  /** With fewer in line nobody is refused. What they take is what a payment takes. */
  readonly freeMax: number
  /** How many leave in a second, before anything is known. */
  readonly startPerSecond: number
  /** How long is looked at least, and at most when nobody leaves: those of a block leave together. */
  readonly windowMs: number
  readonly windowMsMax: number
}

/** How much a window counts against those before it, and a payment when few are in line. */
const windowShare = 0.5
const usualShare = 0.05
/** A request just before a block takes nearly no time, and one just after it twice the usual. */
const usualTimes = 2
/** Longest `Retry-After`: while nobody leaves, the time of a wait has no end, and then the node may be back at once. */
const retryAfterSecondsMax = 60

export function createLoadShedder(limits: LineLimits, clock: Pick<Clock, 'now'>) {
  const lines: Readonly<Record<LineKind, Line>> = {
    settle: createLine(limits, clock),
    verify: createLine(limits, clock),
  }

  /** How long one who comes now would wait. */
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
  let inLine = 0
  let finishedPerMs = startPerSecond / 1000
  let usualMs = 0
  let window = { startedMs: clock.now(), inLine: 0, left: 0 }

  /**
   * The rate of the line: how many requests leave it in a millisecond. It is measured over windows of time. If fewer left in a
   * window than were in line at its start, the line was full, and the rate moves towards what was seen. Otherwise the line
   * might have done more, so the rate only rises. A window in which nobody left goes on, because the requests of one block
   * leave together.
   */
  function measure(): number {
    const tookMs = clock.now() - window.startedMs
    if (tookMs < windowMs) return finishedPerMs
    const seen = window.left / tookMs
    const isFull = window.inLine > window.left
    const now = isFull ? finishedPerMs + (seen - finishedPerMs) * windowShare : Math.max(finishedPerMs, seen)
    if (isFull && window.left === 0 && tookMs < windowMsMax) return now
    finishedPerMs = now
    window = { startedMs: clock.now(), inLine, left: 0 }
    return now
  }

  return {
    waitMs() {
      const takesMs = inLine / measure()
      return inLine < freeMax ? 0 : Math.max(0, takesMs - usualTimes * usualMs)
    },
    enter() {
      measure()
      const [enteredMs, isUsual] = [clock.now(), inLine < freeMax]
      inLine += 1
      return () => {
        inLine -= 1
        window.left += 1
        if (isUsual) usualMs += (clock.now() - enteredMs - usualMs) * usualShare
      }
    },
  }
}
