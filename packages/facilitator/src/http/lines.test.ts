import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { type AskedKind, createLines } from './lines.js'

type LineKind = 'settle' | 'verify'

const limits = {
  waitMs: { settle: 3_000, verify: 2_000, challenge: 1_000 },
  freeMax: 4,
  startPerSecond: 100,
  windowMs: 1_000,
}

function open() {
  const clock = stoppedClock()
  const lines = createLines(limits, clock)
  const ends: (() => void)[] = []
  /** Begins work that ends by `end`. */
  const begin = (kind: LineKind, nonce?: string) =>
    lines.wait(kind, () => new Promise<void>((resolve) => void ends.push(resolve)), nonce)
  return {
    clock,
    lines,
    begin: (kind: LineKind, count = 1) => {
      for (let i = 0; i < count; i++) void begin(kind)
    },
    beginFor: (nonce: string) => void begin('settle', nonce),
    async end(count: number) {
      for (const done of ends.splice(0, count)) done()
      await new Promise((resolve) => setImmediate(resolve))
    },
    /** What one more is told, whose work takes no time. */
    async ask(kind: AskedKind) {
      const answer =
        kind === 'challenge' ? lines.refusalOf(kind) : await lines.wait(kind, async () => undefined)
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
  const { clock, begin, end, lines } = open()
  begin('settle', 250)
  expect(lines.waitMs('settle')).toBe(2_500)
  for (let second = 0; second < 12; second++) {
    clock.advance(1_000)
    await end(10)
  }
  // A hundred and thirty are in line, and ten leave in a second.
  expect(lines.waitMs('settle')).toBeGreaterThan(10_000)
  expect(lines.waitMs('settle')).toBeLessThan(13_000)
})

it('learns that more leave than it believed, and does not forget it while few come', async () => {
  const { clock, begin, end, lines } = open()
  begin('verify', 200)
  expect(lines.waitMs('verify')).toBe(2_000)
  await end(200)
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(60_000)
    begin('verify')
    await end(1)
  }
  expect(lines.waitMs('verify')).toBe(0)
  begin('verify', 200)
  clock.advance(1_000)
  await end(200)
  clock.advance(1_000)
  begin('verify', 200)
  expect(lines.waitMs('verify')).toBe(1_000)
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
    clock.advance(1_000)
    await ask('challenge')
  }
  expect(await ask('settle')).toEqual(['overloaded', expect.any(Number)])
})

it('is left by a settle when its burn is sent, by everybody who waits for it, and only once', async () => {
  const { beginFor, begin, end, lines } = open()
  begin('settle', 100)
  beginFor('0xa')
  beginFor('0xa')
  beginFor('0xb')
  expect(lines.waitMs('settle')).toBe(1_030)
  lines.sent('0xa')
  lines.sent('0xc')
  expect(lines.waitMs('settle')).toBe(1_010)
  await end(103)
  expect(lines.waitMs('settle')).toBe(0)
})

it('is left by work that fails', async () => {
  const { lines } = open()
  const failing = () => lines.wait('verify', async () => Promise.reject(new Error('no node')))
  for (let i = 0; i < 1_000; i++) await expect(failing()).rejects.toThrow('no node')
  expect(lines.waitMs('verify')).toBe(0)
})
