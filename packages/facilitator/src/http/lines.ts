/**
 * Lines of payments that wait for the daemon's work, and who is told to come back instead: before anything is done for it.
 * How long one who comes now would wait follows from how many are in line, and how many leave it in a second. Payments under
 * way come first: a settle may wait longest, then a verify. A new challenge is made only while both lines are short, because
 * it leads to a payment. It has no line of its own: addresses and open challenges are limited already.
 */
import { accept, type Result, reject } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import type { Refusal } from './problem.js'

type LineKind = 'settle' | 'verify'

/** Those who go first are first. */
export const askedKinds = ['settle', 'verify', 'challenge'] as const
export type AskedKind = (typeof askedKinds)[number]

export type Lines = {
  /** Why such a request has to come back later. */
  refusalOf(kind: AskedKind): Refusal | undefined
  /** Does the work, in line, unless the wait would be too long. The line of a settle ends when its burn is sent. */
  wait<T>(kind: LineKind, work: () => Promise<T>, nonce?: string): Promise<Result<T> | Refusal>
  /** The burn is on its way: from now on its caller waits for a block, and not for us. */
  sent(nonce: string): void
  /** How long one who comes now would wait. */
  waitMs(kind: AskedKind): number
}

export type LineLimits = {
  /** The longest wait of each kind. */
  readonly waitMs: Readonly<Record<AskedKind, number>>
  /** With fewer in line nobody is refused: so few say nothing of how many leave in a second. */
  readonly freeMax: number
  /** How many leave in a second, before anything is known. */
  readonly startPerSecond: number
  /** How long is looked at least, and at most when nobody leaves: burns are sent together, and may wait for a block. */
  readonly windowMs: number
  readonly windowMsMax: number
}

/** How much a window counts against those before it. */
const windowShare = 0.5

export function createLines(limits: LineLimits, clock: Pick<Clock, 'now'>): Lines {
  const lines: Readonly<Record<LineKind, Line>> = {
    settle: createLine(limits, clock),
    verify: createLine(limits, clock),
  }
  const leavers = new Map<string, Set<() => void>>()

  const waitMs = (kind: AskedKind) =>
    kind === 'settle' ? lines.settle.waitMs() : Math.max(lines.settle.waitMs(), lines.verify.waitMs())

  function refusalOf(kind: AskedKind): Refusal | undefined {
    const wouldWaitMs = waitMs(kind)
    if (wouldWaitMs <= limits.waitMs[kind]) return undefined
    return { ...reject('overloaded'), retryAfter: Math.ceil(wouldWaitMs / 1000) }
  }

  function enter(kind: LineKind, nonce: string | undefined): () => void {
    const leaveLine = lines[kind].enter()
    if (nonce === undefined) return leaveLine
    const ofNonce = leavers.get(nonce) ?? new Set()
    leavers.set(nonce, ofNonce.add(leaveLine))
    return () => {
      leaveLine()
      ofNonce.delete(leaveLine)
      if (ofNonce.size === 0) leavers.delete(nonce)
    }
  }

  return {
    waitMs,
    refusalOf,
    async wait(kind, work, nonce) {
      const refused = refusalOf(kind)
      if (refused) return refused
      const leave = enter(kind, nonce)
      try {
        return accept(await work())
      } finally {
        leave()
      }
    },
    sent(nonce) {
      for (const leave of leavers.get(nonce) ?? []) leave()
    },
  }
}

type Line = { waitMs(): number; enter(): () => void }

function createLine(
  { freeMax, startPerSecond, windowMs, windowMsMax }: LineLimits,
  clock: Pick<Clock, 'now'>,
): Line {
  let inLine = 0
  let leaveEachMs = startPerSecond / 1000
  let window = { startedMs: clock.now(), inLine: 0, left: 0 }

  /**
   * How many leave in a millisecond. Who is still there after a whole window had to wait: then no more can leave than did.
   * Otherwise all left who came, and more might have. A window goes on while everybody waits, because some leave together.
   */
  function measure(): number {
    const tookMs = clock.now() - window.startedMs
    if (tookMs < windowMs) return leaveEachMs
    const seen = window.left / tookMs
    const isFull = window.inLine > window.left
    const now = isFull ? leaveEachMs + (seen - leaveEachMs) * windowShare : Math.max(leaveEachMs, seen)
    if (isFull && window.left === 0 && tookMs < windowMsMax) return now
    leaveEachMs = now
    window = { startedMs: clock.now(), inLine, left: 0 }
    return now
  }

  return {
    waitMs: () => (inLine < freeMax ? 0 : inLine / measure()),
    enter() {
      measure()
      inLine += 1
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        inLine -= 1
        window.left += 1
      }
    },
  }
}
