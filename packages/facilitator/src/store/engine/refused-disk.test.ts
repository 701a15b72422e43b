/** A disk that is full, read-only, broken or slow, at every point of a ledger's work. */
import { execFileSync } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import threads, { type WorkerOptions } from 'node:worker_threads'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { burnOf, challengeOf, selfTransferOf } from '../../../test/challenges.js'
import { aroundFileCalls } from '../../../test/file-calls.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contentOf, expectSame, foldsOf } from '../../../test/ledger-content.js'
import { type ScriptStep, scriptOf } from '../../../test/ledger-script.js'
import { openTestStore, stepSettings } from '../../../test/store.js'
import type { Reply } from '../group.js'
import { sql } from '../sql.js'
import { type Engine, openEngine } from './engine.js'
import { openSqlite } from './sqlite.js'

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
    expect(reply).toMatchObject({ error: { code: 'ledger_failed' } })
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
    ['until it is repaired', true],
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

describe('the disk of the database', () => {
  const everyRoom = 0xffff_fffe

  it('has no page left, at any point: nothing is half done, and all goes on', () => {
    open()
    let refusals = 0
    for (const step of script.flat()) {
      let steps: readonly ScriptStep[] = [step]
      for (let room = 0; steps.length > 0; room++) {
        const pages = engine.connection.query(sql`PRAGMA page_count`)[0]?.page_count
        engine.connection.exec(`PRAGMA max_page_count = ${pages + room}`)
        steps = runRefused(steps)
        engine.connection.exec(`PRAGMA max_page_count = ${everyRoom}`)
        if (steps.length > 0) refusals += 1
      }
    }
    expect(refusals).toBeGreaterThan(5)
    assertNothingLost()
  })

  it('is read-only for a while, or held by another process: nothing is half done, and all goes on', () => {
    open()
    const other = openSqlite(`${path}.db`)
    for (const steps of script) {
      engine.connection.exec('PRAGMA query_only = 1')
      const left = runRefused(steps)
      engine.connection.exec('PRAGMA query_only = 0')
      other.exec('BEGIN IMMEDIATE')
      const leftStill = runRefused(left)
      other.exec('ROLLBACK')
      expect(leftStill).toEqual(left)
      runWell(leftStill)
    }
    other.close()
    assertNothingLost()
  })

  it.runIf(process.platform === 'linux')(
    'takes nothing behind any place of journal, WAL or database: nothing is half done, and all goes on',
    () => {
      open()
      let refusals = 0
      script.flat().forEach((step, i) => {
        let steps: readonly ScriptStep[] = [step]
        const sizes = ['.db-wal', ''].map((end) => statSync(`${path}${end}`).size)
        // Some steps are tried at every frame that they write to the WAL, and before.
        for (
          let bytes = sizes[i % 2] ?? 0;
          i % 9 === 0 && steps.length > 0;
          bytes += i % 2 ? 20_000 : 4_000
        ) {
          limitFiles(bytes)
          steps = runRefused(steps)
          limitFiles('unlimited')
          if (steps.length > 0) refusals += 1
        }
        runWell(steps)
      })
      expect(refusals).toBeGreaterThan(5)
      assertNothingLost()
    },
  )

  /** No file of this process may grow beyond so many bytes. Nothing else runs before the limit is lifted. */
  function limitFiles(bytes: number | 'unlimited'): void {
    execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:unlimited`])
  }
})

describe('a slow disk', () => {
  it('is waited for as long as a step may wait, at any call; what was late has happened, once', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    slowThreads()
    // Every group cuts the journal.
    const slow = { path, isThreaded: true, waitMs: 1, limits: { journalBytesMax: 0 } }
    const { ledger, store, close } = await openTestStore(slow)
    const lateFile = `${path}.late`
    // The sync of the folder, then write and sync of the lines, then write, sync and rename of the next file.
    for (let call = 1; call <= 6; call++) {
      const challenge = challengeOf(call)
      await ledger.issue(challenge)
      await ledger.claim(challenge.nonce, selfTransferOf(challenge, call))
      writeFileSync(lateFile, `${call}`)
      const late = ledger.accept(challenge.nonce, burnOf(call))
      const refused = expect(late).rejects.toMatchObject({ code: 'ledger_failed' })
      await sleep(20)
      vi.advanceTimersByTime(1_000)
      await refused
      expect(await ledger.find(challenge.nonce)).toMatchObject({ claim: {} })
      rmSync(lateFile)
      expect(await ledger.accept(challenge.nonce, burnOf(call))).toBe('already_accepted')
    }
    expect(store.figures()).toMatchObject({ records: 18, failed: false })
    await close()
    const again = await openTestStore({ path })
    expect(again.store.figures().records).toBe(18)
    await again.close()
  })

  /** Threads that are started until the end of the test have a slow disk. */
  function slowThreads(): void {
    const { Worker } = threads
    const hook = new URL('../../../test/slow-disk.mjs', import.meta.url).href
    threads.Worker = class extends Worker {
      constructor(file: string | URL, options?: WorkerOptions) {
        super(file, { ...options, execArgv: ['--import', hook] })
      }
    }
    syncBuiltinESMExports()
    onTestFinished(() => {
      threads.Worker = Worker
      syncBuiltinESMExports()
    })
  }
})
