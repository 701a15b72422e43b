import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { openFailingDisk } from '../../../test/failing-disk.js'
import { temporaryFolder } from '../../../test/folder.js'
import { createJournal } from './journal.js'
import { decodeLine, encodeLine, fieldsOf } from './line.js'

async function openJournalOn(path = join(temporaryFolder(), 'journal')) {
  const disk = await openFailingDisk(path)
  const failures: unknown[] = []
  const journal = createJournal({ file: disk, bytes: 0, nextSeq: 1, onFailure: (err) => failures.push(err) })
  const append = (number: number) => journal.append({ event: 'noted', number })
  /** Records on the disk, each with its sequence number. */
  const onDisk = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const decoded = decodeLine(Buffer.from(line))
        if (!decoded.ok) throw new Error(decoded.message)
        return { seq: decoded.value.seq, number: fieldsOf(decoded.value).number }
      })
  return { disk, journal, failures, append, onDisk }
}

const numbered = (numbers: readonly number[]) => numbers.map((number, i) => ({ seq: i + 1, number }))
const lineBytes = encodeLine(1, { event: 'noted', number: 1 }).length

describe('group commit', () => {
  it('one sync serves a hundred appends made together, in their order', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    const numbers = Array.from({ length: 100 }, (_, i) => i)
    await Promise.all(numbers.map(append))
    expect(disk.syncs).toBe(1)
    expect(journal.stats()).toMatchObject({ records: 100, syncs: 1, failed: false })
    expect(onDisk()).toEqual(numbered(numbers))
    await journal.close()
  })

  it('what arrives while the disk is busy shares the next sync, and nobody is told before their own', async () => {
    const { disk, journal, append } = await openJournalOn()
    let letGo = () => {}
    let reached = () => {}
    const busy = new Promise<void>((resolve) => {
      reached = resolve
    })
    disk.beforeSync = () => {
      reached()
      return new Promise((resolve) => {
        letGo = resolve
      })
    }
    const told: number[] = []
    const first = append(0).then(() => told.push(0))
    await busy
    const later = [1, 2, 3].map((number) => append(number).then(() => told.push(number)))
    disk.beforeSync = async () => undefined
    expect(told).toEqual([])
    letGo()
    await first
    expect(told).toEqual([0])
    await Promise.all(later)
    expect(told).toEqual([0, 1, 2, 3])
    expect(disk.syncs).toBe(2)
    await journal.close()
  })

  it('what arrives while the disk syncs is in the file before that sync ends: a kill no longer loses it', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    let letGo = () => {}
    disk.beforeSync = () =>
      new Promise((resolve) => {
        letGo = resolve
      })
    const first = append(1)
    await vi.waitUntil(() => onDisk().length === 1)
    const second = append(2)
    await vi.waitUntil(() => onDisk().length === 2)
    expect(disk.syncs).toBe(0)
    disk.beforeSync = async () => undefined
    letGo()
    await Promise.all([first, second])
    expect(disk.syncs).toBe(2)
    await journal.close()
  })

  it('a write that fails while the disk syncs fails alone', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    let letGo = () => {}
    disk.beforeSync = () =>
      new Promise((resolve) => {
        letGo = resolve
      })
    const first = append(1)
    await vi.waitUntil(() => onDisk().length === 1)
    disk.capacityBytes = lineBytes * 1.5
    const second = append(2)
    await vi.waitUntil(() => statSync(disk.path).size > lineBytes)
    disk.beforeSync = async () => undefined
    letGo()
    await first
    await expect(second).rejects.toMatchObject({ code: 'journal_failed', cause: { code: 'ENOSPC' } })
    disk.capacityBytes = Number.POSITIVE_INFINITY
    await append(3)
    expect(onDisk()).toEqual(numbered([1, 3]))
    await journal.close()
  })

  it('a record is whole also when the disk takes seven bytes at a time', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    disk.writeBytesMax = 7
    await Promise.all([append(1), append(2)])
    expect(onDisk()).toEqual(numbered([1, 2]))
    await journal.close()
  })

  it('durable waits for the newest record, and for nothing when none is under way', async () => {
    const { disk, journal, append } = await openJournalOn()
    await journal.durable()
    const appended = append(1)
    await journal.durable()
    expect(disk.syncs).toBe(1)
    await appended
    await journal.close()
  })
})

describe('fault 5 the journal on a disk that fails', () => {
  it('a full disk refuses everyone who waits, and takes the next record once there is room', async () => {
    const { disk, journal, failures, append, onDisk } = await openJournalOn()
    await append(1)
    // Room for one and a half records: the write is short first and refused then.
    disk.capacityBytes = lineBytes * 2.5
    const refused = await Promise.allSettled([append(2), append(3)])
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(refused[0]).toMatchObject({ reason: { code: 'journal_failed', cause: { code: 'ENOSPC' } } })
    expect(failures).toHaveLength(1)
    expect(journal.stats()).toMatchObject({ records: 1, failed: true })

    disk.capacityBytes = Number.POSITIVE_INFINITY
    await append(4)
    expect(onDisk()).toEqual(numbered([1, 4]))
    expect(journal.stats()).toMatchObject({ records: 2, failed: false })
    await journal.close()
  })

  it('a sync that failed is no sync: the record is refused and not found on the disk afterwards', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    disk.syncFails = true
    await expect(append(1)).rejects.toMatchObject({ code: 'journal_failed', cause: { code: 'EIO' } })
    disk.syncFails = false
    await append(2)
    expect(onDisk()).toEqual(numbered([2]))
    await journal.close()
  })

  it('a disk that cannot even cut the file back stays refused until it can', async () => {
    const { disk, journal, append, onDisk } = await openJournalOn()
    await append(1)
    disk.syncFails = true
    await expect(append(2)).rejects.toThrow()
    disk.syncFails = false
    disk.truncateFails = true
    await expect(append(3)).rejects.toThrow()
    disk.truncateFails = false
    await append(4)
    expect(onDisk()).toEqual(numbered([1, 4]))
    await journal.close()
  })

  it('an old failure does not speak for what is durable now', async () => {
    const { disk, journal, append } = await openJournalOn()
    disk.syncFails = true
    const failing = append(1)
    await expect(journal.durable()).rejects.toMatchObject({ code: 'journal_failed' })
    await expect(failing).rejects.toThrow()
    await journal.durable()
    await journal.close()
  })

  it('a disk that takes nothing and says nothing is a failed one', async () => {
    const { disk, journal, append } = await openJournalOn()
    disk.writeBytesMax = 0
    await expect(append(1)).rejects.toMatchObject({ code: 'journal_failed' })
    await journal.close()
  })

  it('whatever fails and when, the disk holds exactly what was acknowledged, without a gap', async () => {
    const anyStep = fc.record({
      appends: fc.integer({ min: 1, max: 4 }),
      trouble: fc.constantFrom('none', 'full', 'sync', 'cut', 'short'),
      awaited: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { disk, journal, append, onDisk } = await openJournalOn()
        const acknowledged: number[] = []
        let next = 0
        let pending: Promise<unknown>[] = []
        for (const { appends, trouble, awaited } of steps) {
          disk.capacityBytes =
            trouble === 'full' ? journal.stats().bytes + lineBytes / 2 : Number.POSITIVE_INFINITY
          disk.syncFails = trouble === 'sync'
          disk.truncateFails = trouble === 'cut'
          disk.writeBytesMax = trouble === 'short' ? 11 : Number.POSITIVE_INFINITY
          for (let i = 0; i < appends; i++) {
            const number = next++
            pending.push(
              append(number).then(
                () => acknowledged.push(number),
                () => undefined,
              ),
            )
          }
          if (awaited) await Promise.all(pending.splice(0))
        }
        await Promise.all(pending)
        disk.syncFails = disk.truncateFails = false
        disk.capacityBytes = disk.writeBytesMax = Number.POSITIVE_INFINITY
        pending = []
        // The next record cuts away whatever a failure left behind.
        await append(-1)
        expect(onDisk()).toEqual(numbered([...acknowledged, -1]))
        await journal.close()
      }),
      { numRuns: 60 },
    )
  })
})

describe('close', () => {
  it('writes what was appended before, and takes nothing after', async () => {
    const { journal, append, onDisk } = await openJournalOn()
    const appended = append(1)
    const closed = journal.close()
    await expect(append(2)).rejects.toMatchObject({ code: 'journal_failed' })
    await Promise.all([appended, closed])
    expect(onDisk()).toEqual(numbered([1]))
  })
})
