import { expect, it } from 'vitest'
import { limits } from '../config/limits.js'
import { createUnderWay, measureDelay } from './under-way.js'

const overloaded = { ok: false, reason: 'overloaded', retryAfter: 2 }

function open(settlesMax: number) {
  const ends: (() => void)[] = []
  const at = { delayMs: 0 }
  const underWay = createUnderWay({ settlesMax, delayMsMax: 100, retryAfterSeconds: 2 }, () => at.delayMs)
  const settle = () => underWay.settle(() => new Promise<void>((resolve) => void ends.push(resolve)))
  return { at, ends, underWay, settle }
}

it('512 settles are never too many, and beyond the bound a settle and a challenge come back later', async () => {
  expect(limits.underWay.settlesMax).toBeGreaterThanOrEqual(512)
  const { underWay, settle, ends } = open(limits.underWay.settlesMax)
  const begun = Array.from({ length: limits.underWay.settlesMax }, settle)
  expect(await settle()).toMatchObject(overloaded)
  expect(underWay.refusalOf('challenge')).toMatchObject(overloaded)
  expect(underWay.refusalOf('verify')).toBeUndefined()
  ends[0]?.()
  await begun[0]
  expect(underWay.refusalOf('challenge')).toBeUndefined()
})

it('a settle that fails makes room as one that ends well', async () => {
  const { underWay } = open(1)
  await expect(underWay.settle(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
  expect(await underWay.settle(async () => 'done')).toMatchObject({ ok: true, value: 'done' })
})

it('everybody comes back later while the event loop is late', async () => {
  const { at, underWay, settle } = open(9)
  at.delayMs = 101
  expect(await settle()).toMatchObject(overloaded)
  for (const kind of ['verify', 'challenge'] as const) {
    expect(underWay.refusalOf(kind)).toMatchObject(overloaded)
  }
  at.delayMs = 100
  expect(underWay.refusalOf('verify')).toBeUndefined()
})

it('quick refusals of an enemy take nothing from honest payments', async () => {
  const { underWay, settle } = open(2)
  void settle()
  for (let i = 0; i < 1_000; i++) await underWay.settle(async () => 'refused')
  expect(underWay.refusalOf('settle')).toBeUndefined()
})

it('a thread that is busy is late, and one that is idle is not', async () => {
  const measured = measureDelay(40)
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1))
  try {
    let late = 0
    for (; late < 100; late = measured.delayMs()) {
      const busyUntil = performance.now() + 400
      while (performance.now() < busyUntil) JSON.stringify(busyUntil)
      await pause()
    }
    // Other processes may keep the thread waiting, but not as long as it was busy.
    while (measured.delayMs() >= late / 2) await pause()
  } finally {
    measured.close()
  }
})
