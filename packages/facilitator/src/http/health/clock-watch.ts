/**
 * The difference between this machine's clock and the chain's time. Challenges expire by our clock and
 * permits by the chain's. If the two differ by much, good payments are refused.
 *
 * A block whose time lies in our future shows that our clock is behind. Only a block that came between two
 * looks can show that our clock is ahead: a chain that makes blocks on demand may have an old one on top for
 * hours.
 */
export type ClockWatch = ReturnType<typeof createClockWatch>

export type ClockReading = {
  /** Our clock when the node answered. */
  readonly localMs: number
  readonly headNumber: bigint
  readonly headTimestamp: number
}

export function createClockWatch() {
  let last: ClockReading | undefined
  let aheadSeconds = 0

  return {
    saw(reading: ClockReading): void {
      // Our clock was set back and may be right now. The next block tells.
      if (last && reading.localMs < last.localMs) aheadSeconds = 0
      else if (last && reading.headNumber > last.headNumber) {
        aheadSeconds = Math.max(0, Math.floor(last.localMs / 1000) - reading.headTimestamp)
      }
      last = reading
    },
    /** Positive when our clock is ahead, negative when it is behind, as far as that is certain. Undefined before a reading. */
    skewSeconds(): number | undefined {
      if (!last) return undefined
      const behindSeconds = last.headTimestamp - Math.floor(last.localMs / 1000)
      return behindSeconds > 0 ? -behindSeconds : aheadSeconds
    },
  }
}
