import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { SvcError } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/folder.js'
import { encodeLine, fieldsOf, type JournalFields, type JournalLine } from './line.js'
import { openJournal } from './open-journal.js'
import { replayFile } from './replay.js'

const noted = (number: number): JournalFields => ({ event: 'noted', number })
const linesOf = (numbers: readonly number[]) => numbers.map((number, i) => encodeLine(i + 1, noted(number)))

const numberIn = (line: JournalLine) => fieldsOf(line).number as number

/** A journal of numbers. */
function opening(path: string) {
  const replayed: number[] = []
  return {
    replayed,
    opened: openJournal({
      path,
      onRecord: (line) => replayed.push(numberIn(line)),
      onFailure: () => undefined,
    }),
  }
}

/** The content of the file for a reader that changes nothing. */
async function numbersIn(path: string) {
  const numbers: number[] = []
  const report = await replayFile(path, (line) => numbers.push(numberIn(line)))
  return { numbers, ...report }
}

const newPath = () => join(temporaryFolder(), 'journal.jsonl')

describe('opening a journal', () => {
  it('begins with an empty file that only its owner can read, and goes on where it ended', async () => {
    const path = newPath()
    const first = await opening(path).opened
    expect(first.replay).toEqual({ records: 0, bytes: 0, tornBytes: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await first.journal.append(noted(1))
    await first.journal.append(noted(2))
    await first.close()

    const { replayed, opened } = opening(path)
    const second = await opened
    expect(replayed).toEqual([1, 2])
    await second.journal.append(noted(3))
    await second.close()
    expect(await numbersIn(path)).toMatchObject({ numbers: [1, 2, 3], records: 3, tornBytes: 0 })
    expect(readdirSync(join(path, '..'))).toEqual(['journal.jsonl'])
  })

  it('reads lines whole wherever the file is cut into pieces', async () => {
    const path = newPath()
    const numbers = Array.from({ length: 40_000 }, (_, i) => i)
    writeFileSync(path, linesOf(numbers).join(''))
    expect(statSync(path).size).toBeGreaterThan(2 << 20)
    expect((await numbersIn(path)).numbers).toEqual(numbers)
  })

  it('says which folder is missing', async () => {
    const path = join(temporaryFolder(), 'nowhere', 'journal.jsonl')
    await expect(opening(path).opened).rejects.toMatchObject({
      code: 'journal_unusable',
      message: expect.stringMatching(/^settlement\.journal: ENOENT.*nowhere/),
    })
  })

  it('says that a folder is no file, and lets go of it', async () => {
    const path = newPath()
    mkdirSync(path)
    await expect(opening(path).opened).rejects.toMatchObject({ code: 'journal_unusable' })
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('follows a link to the file itself and keeps the link', async () => {
    const path = newPath()
    writeFileSync(path, linesOf([1]).join(''))
    const link = join(temporaryFolder(), 'link.jsonl')
    symlinkSync(path, link)
    const { journal, close } = await opening(link).opened
    await expect(opening(path).opened).rejects.toMatchObject({ code: 'journal_locked' })
    await journal.append(noted(2))
    await close()
    expect((await numbersIn(path)).numbers).toEqual([1, 2])
  })
})

describe('fault 4 a damaged line', () => {
  it('at the end was torn by a crash: it is dropped, and its bytes are reported', async () => {
    const [one = '', two = '', three = ''] = linesOf([1, 2, 3])
    for (const torn of [
      three.slice(0, 10),
      three.slice(0, -1),
      `${three.slice(0, 20)}\n`,
      three.replace('noted', 'moted'),
    ]) {
      const path = newPath()
      writeFileSync(path, one + two + torn)
      const { journal, replay, close } = await opening(path).opened
      expect(replay).toEqual({ records: 2, bytes: (one + two).length, tornBytes: torn.length })
      await journal.append(noted(4))
      await close()
      expect(await numbersIn(path)).toMatchObject({ numbers: [1, 2, 4], records: 3, tornBytes: 0 })
    }
  })

  it('before the end stops the start with its number, and changes nothing', async () => {
    const [one = '', two = '', three = ''] = linesOf([1, 2, 3])
    for (const text of [
      one + two.replace('noted', 'moted') + three,
      `${one}\n${two}`,
      `${one}${two.slice(0, 9)}\n${three.slice(0, 5)}`,
    ]) {
      const path = newPath()
      writeFileSync(path, text)
      await expect(opening(path).opened).rejects.toMatchObject({
        code: 'journal_corrupt',
        message: 'settlement.journal: line 2 is damaged: its checksum does not match',
      })
      expect(readFileSync(path, 'utf8')).toBe(text)
      expect(existsSync(`${path}.lock`)).toBe(false)
    }
  })

  it('any bit of any earlier line stops the start at that line; only the last line is forgiven', async () => {
    const numbers = [10, 20, 30, 40]
    const whole = Buffer.from(linesOf(numbers).join(''))
    const path = newPath()
    const anyBit = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 }))
    await fc.assert(
      fc.asyncProperty(anyBit, async ([at, bit]) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit)
        writeFileSync(path, damaged)
        const line = whole.subarray(0, at).toString('utf8').split('\n').length
        const read = numbersIn(path)
        // A line that lost its newline swallows the next one, so the third may be the end, too.
        const isNewline = whole[at] === 0x0a
        if (line === numbers.length || (isNewline && line === numbers.length - 1)) {
          expect((await read).numbers).toEqual(numbers.slice(0, line - 1))
        } else {
          await expect(read).rejects.toThrow(`line ${line} is damaged`)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('with a good checksum was not torn: what a newer version wrote last is kept, and the start refused', async () => {
    const [one = ''] = linesOf([1])
    const later = '{"v":2,"seq":2,"event":"noted"'
    const crc = crc32(later).toString(16).padStart(8, '0')
    for (const [last, message] of [
      [`${later},"crc":"${crc}"}\n`, 'its format is 2, this program reads 1'],
      [encodeLine(2, { event: 'dreamt' }), 'the event dreamt is unknown here'],
    ] as const) {
      const path = newPath()
      writeFileSync(path, one + last)
      const opened = openJournal({
        path,
        onRecord: (line) => {
          if (fieldsOf(line).event !== 'noted') {
            throw new SvcError('journal_newer', `the event ${fieldsOf(line).event} is unknown here`)
          }
        },
        onFailure: () => undefined,
      })
      await expect(opened).rejects.toMatchObject({
        code: 'journal_newer',
        message: expect.stringContaining(
          `settlement.journal: line 2 was written by a newer version of this program: ${message}`,
        ),
      })
      expect(readFileSync(path, 'utf8')).toBe(one + last)
      expect(existsSync(`${path}.lock`)).toBe(false)
    }
  })

  it('a gap in the sequence, a missing beginning, and a record nobody understands stop the start, too', async () => {
    const [one = '', , three = ''] = linesOf([1, 2, 3])
    const path = newPath()
    writeFileSync(path, one + three)
    await expect(numbersIn(path)).rejects.toThrow(
      'line 2 is damaged: it has the sequence number 3, 2 was due',
    )
    writeFileSync(path, three)
    await expect(numbersIn(path)).rejects.toThrow(
      'line 1 is damaged: it has the sequence number 3, 1 was due',
    )
    writeFileSync(path, one)
    const unread = replayFile(path, () => {
      throw new Error('the event noted is unknown')
    })
    await expect(unread).rejects.toThrow('line 1 is damaged: the event noted is unknown')
  })
})
