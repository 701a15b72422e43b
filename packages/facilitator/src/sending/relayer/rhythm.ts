/**
 * The rhythm of the chain, learned from the heads that looks see. While blocks come at a steady pace, nobody has to look
 * before the next one can be there: most looks of a burn that waits for its block see nothing new.
 */
export type Rhythm = ReturnType<typeof createRhythm>

/** A span of milliseconds. */
type Span = { readonly min: number; readonly max: number }

/** A block, and the looks between which it came. */
type Sighting = { readonly number: bigint; readonly came: Span }

/** Blocks that come faster are looked for as often as any look allows. */
const periodMinMs = 200
/** Share of a period by which a block of a steady pace may be early or late, and by which one is looked for too early. */
const unsteady = 0.05
const early = 0.02

export function createRhythm(deps: {
  /** A block that came between two looks this far apart tells when it came. */
  readonly gapMsMax: number
}) {
  let lookedMs = Number.NEGATIVE_INFINITY
  let head = -1n
  /** Since the first of these, blocks came at one pace. */
  let first: Sighting | undefined
  let last: Sighting | undefined
  let period: Span | undefined
  /** Sightings that agree. Two make a pace, and a third one makes it steady. */
  let sightings = 0
  let isPredictionUsed = false

  function forget(): void {
    first = undefined
    last = undefined
    period = undefined
    sightings = 0
  }

  /** A pace holds as long as blocks come when it says. The longer it holds, the closer it is known. */
  function learn(sighting: Sighting): void {
    const pace = last && paceOf(last, sighting)
    const isKept = pace !== undefined && (period === undefined || agree(pace, period))
    if (!isKept) first = last ?? sighting
    period = first && last && paceOf(first, sighting)
    sightings = isKept ? sightings + 1 : last ? 2 : 1
    last = last && period ? { ...sighting, came: within(sighting, last, period) } : sighting
  }

  /** How long no block can come. Zero when one is due, or blocks come at no steady pace. */
  function untilDueMs(nowMs: number): number {
    if (sightings < 3 || !last || !period || period.min < periodMinMs) return 0
    let blocks = Number(head + 1n - last.number)
    // Blocks that surely came while nobody looked.
    while (
      last.came.min + blocks * period.min > lookedMs &&
      last.came.max + blocks * period.max * (1 + early) < nowMs
    )
      blocks += 1
    return Math.max(0, last.came.min + (blocks - early) * period.min - nowMs)
  }

  return {
    untilDueMs,

    /** A look saw this block as the newest. */
    saw(number: bigint, nowMs: number): void {
      const came = { min: lookedMs, max: nowMs }
      lookedMs = nowMs
      const wasPredictionUsed = isPredictionUsed
      isPredictionUsed = false
      const [before, isFirst] = [head, head < 0n]
      head = number
      if (number < before) forget()
      if (number <= before || isFirst) return
      // A block that was there before it was expected shows that the pace is not known as closely as was believed.
      if (wasPredictionUsed || came.max - came.min <= deps.gapMsMax) learn({ number, came })
    },

    /** How long nobody looks because no block can come. Callers rely on it. */
    quietMs(nowMs: number): number {
      const quiet = untilDueMs(nowMs)
      isPredictionUsed = quiet > 0
      return quiet
    },
  }
}

const paceOf = (from: Sighting, to: Sighting): Span => {
  const blocks = Number(to.number - from.number)
  return { min: (to.came.min - from.came.max) / blocks, max: (to.came.max - from.came.min) / blocks }
}

/** When a block came: between the looks, and as far as possible when the pace says. */
function within({ number, came }: Sighting, last: Sighting, period: Span): Span {
  const blocks = Number(number - last.number)
  const min = Math.max(came.min, last.came.min + blocks * period.min)
  const max = Math.min(came.max, last.came.max + blocks * period.max)
  return min <= max ? { min, max } : came
}

const agree = (a: Span, b: Span): boolean =>
  a.min <= b.max * (1 + unsteady) && a.max >= b.min * (1 - unsteady)
