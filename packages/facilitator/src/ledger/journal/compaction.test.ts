import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../test/folder.js'
import { builtModule, runScript } from '../../../test/node-script.js'
import type { JournalFolder } from './compaction.js'
import { encodeLine, fieldsOf, type JournalFields } from './line.js'
import { openJournal } from './open-journal.js'
import { replayFile } from './replay.js'

const noted = (number: number): JournalFields => ({ event: 'noted', number })
const linesOf = (numbers: readonly number[]) => numbers.map((number, i) => encodeLine(i + 1, noted(number)))
const evenOnly = (numbers: readonly number[]) => numbers.filter((number) => number % 2 === 0)

/** A journal of numbers of which the even ones are worth keeping. */
async function openNumbers(path: string, release = () => {}, folder?: JournalFolder) {
  const replayed: number[] = []
  const opened = await openJournal({
    path,
    onRecord: (line) => replayed.push(fieldsOf(line).number as number),
    onFailure: () => undefined,
    ...(folder && { folder }),
  })
  const records = evenOnly(replayed).map(noted)
  return { ...opened, compact: () => opened.compact({ held: opened.replay, records, release }) }
}

async function numbersIn(path: string) {
  const numbers: number[] = []
  const report = await replayFile(path, (line) => numbers.push(fieldsOf(line).number as number))
  return { numbers, ...report }
}

function journalOf(numbers: readonly number[]): string {
  const path = join(temporaryFolder(), 'journal.jsonl')
  writeFileSync(path, linesOf(numbers).join(''))
  return path
}

describe('compaction', () => {
  it('waits until it is asked for; then the file is its shortest form, numbered from one', async () => {
    const path = journalOf([1, 2, 3, 4])
    const { journal, compact, close } = await openNumbers(path)
    expect((await numbersIn(path)).numbers).toEqual([1, 2, 3, 4])
    expect(await compact()).toMatchObject({ recordsBefore: 4, recordsAfter: 2 })
    expect(readFileSync(path, 'utf8')).toBe(linesOf([2, 4]).join(''))
    expect(journal.stats().bytes).toBe(statSync(path).size)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await journal.append(noted(5))
    await close()
    expect((await numbersIn(path)).numbers).toEqual([2, 4, 5])
  })

  it('brings along whatever is appended before, while and after it runs, in order', async () => {
    const anyMoments = fc.array(fc.nat({ max: 12 }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(anyMoments, fc.nat({ max: 2_000 }), async (moments, length) => {
        const numbers = Array.from({ length: length + 1 }, (_, i) => i)
        const path = journalOf([...numbers, 1, 3])
        const { journal, compact, close } = await openNumbers(path)
        const appended: Promise<void>[] = []
        const late: number[] = []
        const append = (count: number) => {
          for (let i = 0; i < count; i++) {
            late.push(100_000 + late.length)
            appended.push(journal.append(noted(late.at(-1) ?? 0)))
          }
        }
        append(moments.length % 3)
        const compacting = compact()
        for (const [i, turns] of moments.entries()) {
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
          append(i % 4)
        }
        await compacting
        append(1)
        await Promise.all(appended)
        await close()
        expect(await numbersIn(path)).toMatchObject({
          numbers: [...evenOnly(numbers), ...late],
          tornBytes: 0,
        })
      }),
      { numRuns: 40 },
    )
  })

  it('acknowledges no record before it is in the file that has the name', async () => {
    const path = journalOf([1, 2, 3, 4])
    const { journal, compact, close } = await openNumbers(path)
    const compacting = compact()
    for (let number = 100; number < 140; number += 2) {
      await journal.append(noted(number))
      expect((await numbersIn(path)).numbers).toContain(number)
    }
    await compacting
    await close()
  })

  it('is not confused by what an earlier one left behind', async () => {
    const path = journalOf([1, 2])
    writeFileSync(`${path}.new`, `${linesOf([9]).join('')}half a li`)
    const { compact, close } = await openNumbers(path)
    expect(existsSync(`${path}.new`)).toBe(false)
    await compact()
    await close()
    expect((await numbersIn(path)).numbers).toEqual([2])
    expect(existsSync(`${path}.new`)).toBe(false)
  })

  it('fault 5 that the disk refuses leaves the old file in use', async () => {
    const path = journalOf([1, 2])
    const { journal, compact, close } = await openNumbers(path)
    // Every write to this file meets a full disk.
    symlinkSync('/dev/full', `${path}.new`)
    await expect(compact()).rejects.toMatchObject({ code: 'ENOSPC' })
    await journal.append(noted(3))
    await close()
    expect((await numbersIn(path)).numbers).toEqual([1, 2, 3])
    expect(readdirSync(dirname(path))).toEqual(['journal.jsonl'])
  })

  it('fault 5 does not begin when it could fill the disk', async () => {
    const path = journalOf([1, 2])
    const folder = { freeBytes: async () => statSync(path).size - 1, sync: async () => undefined }
    const { journal, compact, close } = await openNumbers(path, undefined, folder)
    await expect(compact()).rejects.toMatchObject({ code: 'journal_failed' })
    expect((await numbersIn(path)).numbers).toEqual([1, 2])
    await journal.append(noted(3))
    await close()
    expect((await numbersIn(path)).numbers).toEqual([1, 2, 3])
  })

  it('fault 5 acknowledges nothing until the name of the new file is on the disk', async () => {
    const path = journalOf([1, 2])
    const refused = new Error('the folder is not synced')
    const sync = vi.fn(() => Promise.resolve())
    sync.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused)
    const folder = { freeBytes: async () => statSync(path).size, sync }
    const { journal, compact, close } = await openNumbers(path, undefined, folder)
    await expect(compact()).rejects.toBe(refused)
    await expect(journal.append(noted(3))).rejects.toMatchObject({ code: 'journal_failed', cause: refused })
    expect(journal.stats().failed).toBe(true)
    await journal.append(noted(4))
    await journal.append(noted(5))
    expect(sync).toHaveBeenCalledTimes(3)
    await close()
    expect((await numbersIn(path)).numbers).toEqual([2, 4, 5])
  })

  it('lets go of what it would have written, also when it cannot begin', async () => {
    const path = journalOf([1, 2])
    const release = vi.fn()
    const first = await openNumbers(path, release)
    mkdirSync(`${path}.new`)
    await expect(first.compact()).rejects.toMatchObject({ code: 'EISDIR' })
    expect(release).toHaveBeenCalledOnce()
    await first.close()
  })

  it('is given up when the journal is closed', async () => {
    const numbers = Array.from({ length: 50_000 }, (_, i) => i)
    const path = journalOf(numbers)
    const { compact, close } = await openNumbers(path)
    const compacting = compact()
    const ended = expect(compacting).rejects.toThrow(/abort/i)
    await close()
    await ended
    expect(existsSync(`${path}.new`)).toBe(false)
    expect((await numbersIn(path)).records).toBe(numbers.length)
  })

  it('a kill in the middle leaves the old file whole, and the next start does not mind', async () => {
    const numbers = Array.from({ length: 30_000 }, (_, i) => i)
    const path = journalOf(numbers)
    const before = readFileSync(path, 'utf8')
    // Late enough that a part of the new file is written already.
    const { ended } = runScript(`
      import { openJournal } from ${builtModule('ledger/journal/open-journal')}
      function* numbers() {
        for (let number = 0; ; number++) {
          if (number === 29000) process.kill(process.pid, 'SIGKILL')
          yield { event: 'noted', number }
        }
      }
      const { compact, replay } = await openJournal({
        path: ${JSON.stringify(path)},
        onRecord() {},
        onFailure() {},
      })
      await compact({ held: replay, records: numbers(), release() {} })`)
    expect(await ended).toMatchObject({ how: 'SIGKILL', stderr: '' })
    expect(statSync(`${path}.new`).size).toBeGreaterThan(0)
    expect(readFileSync(path, 'utf8')).toBe(before)
    const { compact, close } = await openNumbers(path)
    await compact()
    await close()
    expect((await numbersIn(path)).numbers).toEqual(evenOnly(numbers))
  })
})
