import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { type AskedKind, createLoadShedder, type LineLimits } from './overload.js'

type LineKind = 'settle' | 'verify'

const limits = {
  waitMs: { settle: 3_000, verify: 2_000, challenge: 1_000 },
  freeMax: 4,
  startPerSecond: 100,
  windowMs: 1_000,
  windowMsMax: 10_000,
}

function open(changes: Partial<LineLimits> = {}) {
  const clock = stoppedClock()
  const loadShedder = createLoadShedder({ ...limits, ...changes }, clock)
  const ends: (() => void)[] = []
  /** Begins work that ends by `end`. */
  const begin = (kind: LineKind) =>
    loadShedder.wait(kind, () => new Promise<void>((resolve) => void ends.push(resolve)))
  return {
    clock,
    loadShedder,
    begin: (kind: LineKind, count = 1) => {
      for (let i = 0; i < count; i++) void begin(kind)
    },
    async end(count: number) {
      for (const done of ends.splice(0, count)) done()
      await new Promise((resolve) => setImmediate(resolve))
    },
    /** The answer to one more request, whose work takes no time. */
    async ask(kind: AskedKind) {
      const answer =
        kind === 'challenge'
          ? loadShedder.refusalOf(kind)
          : await loadShedder.wait(kind, async () => undefined)
      return answer?.ok === false && 'retryAfter' in answer ? [answer.reason, answer.retryAfter] : 'done'
    },
  }
}

it('refuses whoever would wait longer than its kind may, and says for how long; payments under way wait longest', async () => {
  const { begin, ask } = open()
  begin('settle', 99)
  expect([await ask('challenge'), await ask('verify'), await ask('settle')]).toEqual(['done', 'done', 'done'])
  begin('settle', 10)
  expect([await ask('challenge'), await ask('verify'), await ask('settle')]).toEqual([
    ['overloaded', 2],
    'done',
    'done',
  ])
  begin('settle', 100)
  expect([await ask('verify'), await ask('settle')]).toEqual([['overloaded', 3], 'done'])
  begin('settle', 100)
  expect(await ask('settle')).toEqual(['overloaded', 4])
})

it('of those who are only verified hold up no settle', async () => {
  const { begin, ask } = open()
  begin('verify', 200)
  expect([await ask('challenge'), await ask('settle')]).toEqual([['overloaded', 2], 'done'])
  begin('verify', 1)
  expect([await ask('verify'), await ask('settle')]).toEqual([['overloaded', 3], 'done'])
})

it('learns that fewer leave than it believed', async () => {
  const { clock, begin, end, loadShedder } = open()
  begin('settle', 250)
  expect(loadShedder.waitMs('settle')).toBe(2_500)
  for (let second = 0; second < 8; second++) {
    clock.advance(1_000)
    await end(10)
    begin('settle', 10)
  }
  // Ten leave in a second, so it takes 25 s until whoever comes now leaves. Two are usual.
  expect(loadShedder.waitMs('settle')).toBeGreaterThan(15_000)
  expect(loadShedder.waitMs('settle')).toBeLessThan(25_000)
})

it('learns that more leave than it believed, and does not forget it while few come', async () => {
  const { clock, begin, end, loadShedder } = open()
  begin('verify', 200)
  expect(loadShedder.waitMs('verify')).toBe(2_000)
  await end(200)
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(60_000)
    begin('verify')
    await end(1)
  }
  expect(loadShedder.waitMs('verify')).toBe(0)
  begin('verify', 200)
  clock.advance(1_000)
  await end(200)
  begin('verify', 200)
  expect(loadShedder.waitMs('verify')).toBeLessThanOrEqual(1_000)
})

it('takes those who leave together, once in a while, for as many as they are on average', async () => {
  const patient = { settle: 60_000, verify: 60_000, challenge: 60_000 }
  const { clock, begin, end, loadShedder } = open({ waitMs: patient })
  begin('settle', 300)
  for (let block = 0; block < 20; block++) {
    for (let second = 0; second < 6; second++) {
      clock.advance(1_000)
      loadShedder.waitMs('settle')
    }
    await end(60)
    begin('settle', 60)
  }
  // Three hundred are in line, and ten leave in a second. Twice the time of a block is usual.
  expect(loadShedder.waitMs('settle')).toBe(18_000)
})

it('refuses nobody while so few are in line that they say nothing, although nothing leaves', async () => {
  const { clock, begin, ask } = open()
  begin('settle', 3)
  clock.advance(600_000)
  expect(await ask('challenge')).toBe('done')
  begin('settle')
  clock.advance(600_000)
  expect(await ask('settle')).toBe('done')
  begin('settle', 200)
  for (let window = 0; window < 20; window++) {
    clock.advance(10_000)
    await ask('challenge')
  }
  // Told to come back in days, a caller would not see that the node is back.
  expect(await ask('settle')).toEqual(['overloaded', 60])
})

it('counts as a wait only what is beyond the time that a payment takes when few are in line', async () => {
  const { clock, begin, end, loadShedder } = open()
  for (let block = 0; block < 100; block++) {
    begin('settle', 3)
    clock.advance(12_000)
    await end(3)
  }
  begin('settle', 300)
  // They take as long as their block does, and no more can be said.
  expect(loadShedder.waitMs('settle')).toBe(0)
})

it('does not take for usual how long those take whom a crowd follows', async () => {
  const { clock, begin, end, loadShedder } = open()
  for (let block = 0; block < 100; block++) {
    begin('settle', 3)
    clock.advance(1_000)
    await end(3)
  }
  for (let crowd = 0; crowd < 20; crowd++) {
    begin('settle', 300)
    clock.advance(3_000)
    await end(300)
  }
  begin('settle', 600)
  // A hundred leave in a second. Twice the usual second, and 2.25 times that while nobody is late, is no wait.
  expect(loadShedder.waitMs('settle')).toBe(1_500)
})

/** Settles that arrive at a steady rate while each block ends the oldest, at most so many. Rates change after some blocks. */
async function settle(
  rates: readonly number[],
  { blockMs, perBlock }: { blockMs: number; perBlock: number },
) {
  const blocksEach = 8
  const stepMs = 20
  const { clock, loadShedder } = open({
    waitMs: { settle: 2_000, verify: 1_500, challenge: 1_000 },
    freeMax: 64,
  })
  const line: { since: number; end: () => void }[] = []
  const counts = { refused: 0, accepted: 0, longestMs: 0 }
  async function arrive() {
    const since = clock.now()
    const answer = await loadShedder.wait(
      'settle',
      () => new Promise<void>((end) => void line.push({ since, end })),
    )
    if (answer.ok) counts.longestMs = Math.max(counts.longestMs, clock.now() - since)
    counts[answer.ok ? 'accepted' : 'refused'] += 1
  }
  for (const perSecond of rates) {
    let due = 0
    for (let ms = 0; ms < blocksEach * blockMs; ms += stepMs) {
      clock.advance(stepMs)
      if (clock.now() % blockMs === 0) for (const { end } of line.splice(0, perBlock)) end()
      for (due += (perSecond * stepMs) / 1000; due >= 1; due -= 1) void arrive()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return counts
}

it.each([1_000, 2_000, 12_000])(
  'refuses none of those who leave with the next block, at any rate and however it rises: blocks of %i ms',
  async (blockMs) => {
    const { refused } = await settle([10, 50, 150, 350], { blockMs, perBlock: Number.POSITIVE_INFINITY })
    expect(refused).toBe(0)
  },
)

it('takes all that blocks hold when three times as many come, and lets none of them wait long', async () => {
  const blocks = 8
  const { accepted, longestMs } = await settle([50, 200, 600], { blockMs: 1_000, perBlock: 200 })
  expect(accepted).toBeGreaterThanOrEqual(blocks * (50 + 2 * 200) - 200)
  expect(longestMs).toBeLessThan(6_000)
})

it('is left by work that fails', async () => {
  const { loadShedder } = open()
  const failing = () => loadShedder.wait('verify', async () => Promise.reject(new Error('no node')))
  for (let i = 0; i < 1_000; i++) await expect(failing()).rejects.toThrow('no node')
  expect(loadShedder.waitMs('verify')).toBe(0)
})
