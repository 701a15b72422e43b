import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, nonceOf, seconds } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { fold, type HistoryRecord } from '../record.js'
import { type FollowedFiles, followFiles } from './follow-files.js'
import { type HistoryIndex, indexFolderOf, openHistoryIndex } from './history-index.js'

const limits = { recordsPerWrite: 2, progressEveryRecords: 4 }

const challenged = (n: number): HistoryRecord => ({ event: 'challenged', challenge: challengeOf(n) })
const accepted = (n: number): HistoryRecord => ({
  event: 'accepted',
  nonce: nonceOf(n),
  burn: burnOf(n),
  at: seconds(1_700_000_100 + n),
})

/** Files with a line in front that is no record, read three records at a time. */
function filesOf(
  records: readonly HistoryRecord[],
  isLastKnown = true,
): FollowedFiles & { readonly reads: number[] } {
  const numbered = records.map((record, i) => ({ seq: i + 2, record }))
  const reads: number[] = []
  return {
    reads,
    lastRecord: isLastKnown ? numbered.at(-1) : undefined,
    lastSeq: () => (records.length === 0 ? 0 : records.length + 1),
    async readBehind(behind, onPart) {
      reads.push(behind)
      const wanted = numbered.filter(({ seq }) => seq > behind)
      for (let i = 0; i < wanted.length; i += 3) await onPart(wanted.slice(i, i + 3))
    },
  }
}

async function open() {
  const index = await openHistoryIndex(indexFolderOf(join(temporaryFolder(), 'history.jsonl')))
  const told: [number, number][] = []
  const follow = (files: FollowedFiles) =>
    followFiles({ index, files, onProgress: (seq, last) => told.push([seq, last]), limits })
  return { index, told, follow }
}

const isOfFirst = (record: HistoryRecord) =>
  record.event === 'challenged' && record.challenge.nonce === nonceOf(1)
const viewOf = async (index: HistoryIndex, n: number) => (await index.payments([nonceOf(n)])).get(nonceOf(n))
const records = [
  challenged(1),
  challenged(2),
  accepted(1),
  challenged(3),
  accepted(2),
  accepted(3),
  challenged(4),
]

describe('an index that follows its files', () => {
  it('is made of all records when it is empty, and tells how far it is', async () => {
    const { index, told, follow } = await open()
    expect(await follow(filesOf(records))).toBe(7)
    expect(index.indexedSeq()).toBe(8)
    expect(await viewOf(index, 1)).toEqual(fold(fold(undefined, challenged(1), 2), accepted(1), 4))
    expect(await viewOf(index, 4)).toEqual(fold(undefined, challenged(4), 8))
    expect(told).toEqual([[5, 8]])
    await index.close()
  })

  it('adds only what it lacks', async () => {
    const { index, follow } = await open()
    await follow(filesOf(records.slice(0, 4)))
    await index.setCompleteUpTo({ id: 'journal', generation: 1, records: 4 })
    const files = filesOf(records)
    expect(await follow(files)).toBe(3)
    expect(files.reads).toEqual([4])
    expect(await follow(files)).toBe(0)
    expect(files.reads).toEqual([4])
    expect(await follow(filesOf(records, false))).toBe(0)
    expect(index.completeUpTo()).toBeDefined()
    expect(await viewOf(index, 2)).toEqual(fold(fold(undefined, challenged(2), 3), accepted(2), 6))
    await index.close()
  })

  it.each([
    ['are gone', []],
    ['end before it', [challenged(1), challenged(2)]],
    ['are others of the same length', [challenged(7), challenged(8), challenged(1), challenged(2)]],
    [
      'have another record where it ended',
      [challenged(7), challenged(8), challenged(9), challenged(1), challenged(2)],
    ],
  ])('is made anew when the files %s', async (_, others) => {
    const { index, follow } = await open()
    await follow(filesOf(records.slice(0, 4)))
    await index.setCompleteUpTo({ id: 'journal', generation: 1, records: 4 })
    expect(await follow(filesOf(others))).toBe(others.length)
    expect(index.completeUpTo()).toBeUndefined()
    expect(await viewOf(index, 3)).toBeUndefined()
    const known =
      others.length > 0
        ? fold(undefined, challenged(1), others.indexOf(others.find(isOfFirst) ?? challenged(1)) + 2)
        : undefined
    expect(await viewOf(index, 1)).toEqual(known)
    await index.close()
  })
})
