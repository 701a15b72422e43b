import { describe, expect, it } from 'vitest'
import { createRhythm } from './rhythm.js'

const [firstMs, longestMs] = [10, 100]

/** Looks for blocks that come at these times, as the watch does, and tells how each was seen. */
function watch(blocksAtMs: readonly number[]) {
  const rhythm = createRhythm({ gapMsMax: 1.5 * longestMs })
  let now = blocksAtMs[0] ?? 0
  let growing = firstMs
  let looks = 0
  return blocksAtMs.slice(1).map((atMs, i) => {
    looks = 0
    // Something new was sent: the first look comes soon.
    growing = firstMs / 2
    for (let pause = growing * 2; ; ) {
      now += pause
      looks += 1
      const isThere = now >= atMs
      rhythm.saw(BigInt(isThere ? i + 1 : i), now)
      if (isThere) break
      const quiet = Math.min(rhythm.quietMs(now), 1_000)
      growing = quiet > 0 ? firstMs / 2 : Math.min(growing * 2, longestMs)
      pause = Math.max(growing, quiet)
    }
    return { lateMs: now - atMs, looks }
  })
}

/** A draw that is the same every time. */
const jitter = (i: number, range: number) => ((i * 7919) % 101) * (range / 100)

describe('the rhythm of the chain', () => {
  it('spares nearly all looks at blocks of a steady pace, and sees them as soon', () => {
    const seen = watch(Array.from({ length: 60 }, (_, i) => 1_000 * i + jitter(i, 6)))
    const learned = seen.slice(5)
    expect(learned.reduce((sum, { looks }) => sum + looks, 0) / learned.length).toBeLessThan(6)
    expect(learned.reduce((sum, { lateMs }) => sum + lateMs, 0) / learned.length).toBeLessThan(30)
    expect(seen.slice(0, 2).every(({ looks }) => looks > 10)).toBe(true)
  })

  it('spares looks of payments that come now and then, at any moment between two blocks', () => {
    const blockAt = (number: number) => 1_000 * number + jitter(number, 60)
    const rhythm = createRhythm({ gapMsMax: 1.5 * longestMs })
    const seen = Array.from({ length: 60 }, (_, i) => {
      const sentMs = 5_000 + 2_700 * i + jitter(i, 900)
      let next = Math.floor(sentMs / 1_000)
      while (blockAt(next) <= sentMs) next += 1
      let looks = 0
      let growing = firstMs
      for (let now = sentMs; ; ) {
        const quiet = rhythm.quietMs(now)
        growing = quiet > 0 ? firstMs / 2 : Math.min(growing * 2, longestMs)
        now += Math.max(growing, quiet)
        looks += 1
        rhythm.saw(BigInt(now >= blockAt(next) ? next : next - 1), now)
        if (now >= blockAt(next)) return { looks, lateMs: now - blockAt(next) }
      }
    }).slice(8)
    expect(seen.reduce((sum, { looks }) => sum + looks, 0) / seen.length).toBeLessThan(4)
    expect(seen.reduce((sum, { lateMs }) => sum + lateMs, 0) / seen.length).toBeLessThan(30)
    // None waited for the block after its own.
    expect(Math.max(...seen.map(({ lateMs }) => lateMs))).toBeLessThan(longestMs)
  })

  it('is not relied on where blocks come anyhow: each is seen nearly as soon as by looking all the time', () => {
    const times: number[] = [0]
    for (let i = 1; i < 80; i++) times.push((times[i - 1] ?? 0) + 300 + jitter(i, 3_000))
    const late = watch(times)
      .map(({ lateMs }) => lateMs)
      .toSorted((a, b) => a - b)
    expect(late[Math.floor(late.length / 2)]).toBeLessThan(longestMs)
    expect(late.at(-1)).toBeLessThanOrEqual(1_000)
  })

  it('forgets a pace that changed, and learns the new one', () => {
    const times = Array.from({ length: 20 }, (_, i) => 1_000 * i)
    for (let i = 0; i < 20; i++) times.push(19_000 + 400 * (i + 1))
    const seen = watch(times)
    expect(Math.max(...seen.map(({ lateMs }) => lateMs))).toBeLessThan(1_000)
    expect(seen.slice(-8).every(({ lateMs }) => lateMs < longestMs)).toBe(true)
  })

  it('knows nothing after a reorg, nor of blocks that come too fast', () => {
    const rhythm = createRhythm({ gapMsMax: 150 })
    for (let ms = 0; ms <= 4_000; ms += 20) rhythm.saw(BigInt(Math.floor(ms / 1_000)), ms)
    expect(rhythm.quietMs(4_000)).toBeGreaterThan(900)
    rhythm.saw(2n, 4_020)
    expect(rhythm.quietMs(4_020)).toBe(0)
    const fast = createRhythm({ gapMsMax: 150 })
    for (let ms = 0; ms <= 4_000; ms += 20) fast.saw(BigInt(Math.floor(ms / 100)), ms)
    expect(fast.quietMs(4_000)).toBe(0)
  })
})
