import { copyFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf, challengeOf, seconds } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { openLedger } from '../open.js'
import { assertNewest, markFileOf, readMark } from './mark.js'

const clock = stoppedClock()
const now = Math.floor(clock.now() / 1000)

const open = (journal: string, acceptJournal = false) =>
  openLedger({
    journal,
    binding: { chainId: 31337, token: addressOf(7) },
    clock,
    openMax: 1_000,
    expiredRetentionSeconds: 0,
    unmatchedMax: { perChallenge: 1, total: 1 },
    onJournalFailure: () => undefined,
    acceptJournal,
  })

/** Challenges that are gone at the next compaction. */
const passing = (n: number) => challengeOf(n, { issuedAt: seconds(now - 10), expiresAt: seconds(now - 1) })
const lasting = (n: number) => challengeOf(n, { issuedAt: seconds(now), expiresAt: seconds(now + 300) })

describe('a journal is the newest', () => {
  const mark = { id: 'a', generation: 2, records: 10 }
  it.each([
    ['as far as the mark', { id: 'a', generation: 2, records: 10 }, undefined],
    ['further', { id: 'a', generation: 2, records: 11 }, undefined],
    ['written anew since, and shorter', { id: 'a', generation: 3, records: 1 }, undefined],
    ['shorter', { id: 'a', generation: 2, records: 9 }, 'is an old copy'],
    ['of before it was written anew, and longer', { id: 'a', generation: 1, records: 99 }, 'is an old copy'],
    ['another', { id: 'b', generation: 9, records: 99 }, 'is not the one that was here'],
    [
      'without a name',
      { id: undefined, generation: 0, records: 99 },
      'perhaps an older version wrote it anew',
    ],
    ['empty', { id: undefined, generation: 0, records: 0 }, 'is empty or missing'],
  ])('or not: %s', (_, found, words) => {
    const judged = expect(() => assertNewest('j', found, mark))
    if (words === undefined) judged.not.toThrow()
    else
      judged.toThrow(
        expect.objectContaining({ code: 'journal_old', message: expect.stringContaining(words) }),
      )
    expect(() => assertNewest('j', found, undefined)).not.toThrow()
  })

  it('also when the copy from before a compaction has more records', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const first = await open(journal)
    for (let n = 1; n <= 20; n++) await first.ledger.issue(passing(n))
    await first.close()
    copyFileSync(journal, `${journal}.old`)
    const second = await open(journal)
    expect(await second.compact(0)).toMatchObject({ recordsBefore: 21, recordsAfter: 1 })
    await second.ledger.issue(lasting(99))
    await second.close()
    expect(await readMark(markFileOf(journal))).toMatchObject({ generation: 1, records: 2 })

    copyFileSync(journal, `${journal}.new-copy`)
    copyFileSync(`${journal}.old`, journal)
    await expect(open(journal)).rejects.toMatchObject({ code: 'journal_old' })
    copyFileSync(`${journal}.new-copy`, journal)
    await (await open(journal)).close()
    copyFileSync(`${journal}.old`, journal)
    await (await open(journal, true)).close()
    // The operator accepted this journal: now it is the newest.
    await (await open(journal)).close()
  })

  it('without a mark, moved elsewhere, or with one that cannot be read', async () => {
    const journal = join(temporaryFolder(), 'journal')
    await (await open(journal)).close()
    const moved = join(temporaryFolder(), 'elsewhere')
    copyFileSync(journal, moved)
    await (await open(moved)).close()
    writeFileSync(markFileOf(journal), 'half a ma')
    await (await open(journal)).close()
    expect(await readMark(markFileOf(journal))).toMatchObject({ records: 1 })
  })

  it('and behind a link: the mark is beside the file, and a link to nothing is refused', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const link = join(temporaryFolder(), 'link')
    writeFileSync(journal, '')
    symlinkSync(journal, link)
    await (await open(link)).close()
    expect(await readMark(markFileOf(journal))).toMatchObject({ records: 1 })
    rmSync(journal)
    await expect(open(link)).rejects.toMatchObject({
      code: 'journal_unusable',
      message: expect.stringContaining('which is not there'),
    })
  })
})
