/** A disk that is full, read-only, broken or slow, at every point of a ledger's work. */
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { aroundFileCalls } from '../../../test/file-calls.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contentOf, expectSame, foldsOf } from '../../../test/ledger-content.js'
import { type ScriptStep, scriptOf } from '../../../test/ledger-script.js'
import { stepSettings } from '../../../test/store.js'
import { type Engine, openEngine } from './engine.js'
import type { Reply } from './writer.js'

const settings = { steps: stepSettings, keepSigned: { blocks: 3 } }
const limits = { journalBytesMax: 3_000 }
const nowMs = 1_700_000_100_000

let drawn = 0
const script = scriptOf(3, (limit) => (drawn++ * 7919 + 13) % limit)

let path: string
let engine: Engine
beforeEach(() => {
  path = join(temporaryFolder({ isQuick: true }), 'journal')
})

const open = () => {
  engine = openEngine({ path, settings, limits }, () => undefined)
}
const run = (steps: readonly ScriptStep[]): readonly Reply[] =>
  engine.run(steps.map((step) => ({ ...step, nowMs })))

const isRefused = (reply: Reply | undefined) => reply !== undefined && 'error' in reply
const content = () => contentOf(engine.connection)

/** Runs steps on a disk that refuses. Each happens as a whole, or is refused with the reason. Gives those that are left. */
function runRefused(steps: readonly ScriptStep[]): readonly ScriptStep[] {
  const before = content()
  const replies = run(steps)
  for (const reply of replies.filter(isRefused)) {
    expect(reply).toMatchObject({ error: { code: 'journal_failed' } })
  }
  const first = replies.findIndex(isRefused)
  if (first === 0) expectSame(content(), before)
  // A step behind one that was refused may have found nothing to do.
  return first === -1 ? [] : steps.slice(first)
}

/** The disk is well again: everything goes on without a restart. */
function runWell(steps: readonly ScriptStep[]): void {
  expect(run(steps).filter(isRefused)).toEqual([])
}

/** The same rows as without a failure, here and after a restart; each event is there once. */
function assertNothingLost(): void {
  const expected = openEngine({ settings, limits }, () => undefined)
  for (const steps of script) expected.run(steps.map((step) => ({ ...step, nowMs })))
  expectSame(content(), contentOf(expected.connection))
  expectSame(content(), foldsOf(engine.connection, settings.keepSigned).at(-1))
  engine.close()
  open()
  expectSame(content(), contentOf(expected.connection))
  engine.close()
}

/** Counts calls of the file layer; the one with this number is refused, and with `isLasting` all behind it. */
function refuseCalls(isLasting: boolean) {
  let call = 0
  let from = Number.POSITIVE_INFINITY
  aroundFileCalls([join(path, '..')], ({ name }, act) => {
    call += 1
    if (call < from || (call > from && !isLasting)) return act()
    // A full disk takes a part of what is written.
    if (name === 'write') act(1)
    throw Object.assign(new Error('refused'), { code: name === 'write' ? 'ENOSPC' : 'EIO' })
  })
  return {
    refuse(number: number) {
      call = 0
      from = number
    },
    wasRefused: () => call >= from,
    heal() {
      from = Number.POSITIVE_INFINITY
    },
  }
}

describe('the disk of the journal', () => {
  it.each([
    ['once', false],
    ['until it is mended', true],
  ])('refuses any write, sync, cut or rename, %s: nothing is half done, and all goes on', (_, isLasting) => {
    const disk = refuseCalls(isLasting)
    open()
    let refusals = 0
    let first = 1
    for (let steps of script) {
      for (let call = first; ; call++) {
        disk.refuse(call)
        steps = runRefused(steps)
        // When all is recorded, the journal was about to be cut: the next group tries the call behind this one.
        first = disk.wasRefused() ? call + 1 : 1
        disk.heal()
        if (first === 1) break
        refusals += 1
        if (steps.length === 0) break
      }
    }
    expect(refusals).toBeGreaterThan(script.length / 2)
    assertNothingLost()
  })

  it('refuses any call of a start: it is told, and the next start has everything', () => {
    const disk = refuseCalls(true)
    let starts = 0
    const startsWith = (call: number) => {
      disk.refuse(call)
      try {
        open()
        return true
      } catch (error) {
        expect(error).toMatchObject({ message: 'refused' })
        starts += 1
        return false
      }
    }
    for (const steps of script) {
      for (let call = 1; !startsWith(call); call++);
      disk.heal()
      runWell(steps)
      engine.close()
    }
    expect(starts).toBeGreaterThan(script.length)
    open()
    assertNothingLost()
  })
})
