import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, hashOf, permitPayloadOf } from '../../../test/challenges.js'
import { temporaryFiles } from '../../../test/files.js'
import { openTestLedger, testBinding } from '../../../test/open-ledger.js'
import { readConfig } from '../../config/config.js'
import { exitCodeOf, format } from '../../config/finding.js'
import { lockJournal } from '../../store/journal/lock.js'
import { type LedgerFacts, probeLedger } from './ledger.js'

const files = temporaryFiles()

const findingsOf = (journal: string, facts?: LedgerFacts) =>
  probeLedger(readConfig(`[settlement]\njournal = '${journal}'`).values, undefined, facts)
const linesOf = async (...args: Parameters<typeof findingsOf>) => (await findingsOf(...args)).map(format)

describe('probeLedger', () => {
  it('R-062 R-075 needs a folder that exists, and a file where a file should be', async () => {
    const blocked = files.write('a-file', '')
    const folder = join(files.path, 'a-folder')
    mkdirSync(folder)
    const missing = join(files.path, 'missing')
    expect(await linesOf(join(missing, 'journal'))).toEqual([
      `fail settlement.journal: the folder ${missing} does not exist`,
    ])
    expect(await linesOf(join(blocked, 'journal'))).toEqual([
      `fail settlement.journal: ${blocked} is no folder`,
    ])
    expect(await linesOf(folder)).toEqual([`fail settlement.journal: ${folder} is no file`])
  })

  it('R-062 warns when there is none', async () => {
    expect(await linesOf('none')).toEqual([
      'warn settlement.journal: is "none": pending work is lost on restart',
    ])
  })

  it('R-062 is content with a file that is still to be made, and does not make it', async () => {
    const folder = join(files.path, 'empty')
    mkdirSync(folder)
    const journal = join(folder, 'journal.jsonl')
    expect(await linesOf(journal)).toEqual([`ok   settlement.journal: ${journal} can be written`])
    expect(await linesOf(journal, {})).toEqual([`ok   settlement.journal: ${journal} has 0 records`])
    expect(readdirSync(folder)).toEqual([])
  })

  it('R-075 replays the file: a damaged line is told with its number, a torn one forgiven', async () => {
    const journal = files.write('journal.jsonl', 'nothing\nof\nours\n')
    const [damaged] = await linesOf(journal, {})
    expect(damaged).toContain('fail settlement.journal: line 1 is damaged')
    writeFileSync(journal, 'torn')
    expect(await linesOf(journal, {})).toEqual([
      `warn settlement.journal: ${journal} has 0 records and 4 bytes of one that a crash cut short`,
    ])
  })

  it('R-075 takes damage for something to fix', async () => {
    expect(exitCodeOf(await findingsOf(files.write('journal.jsonl', 'x\ny\n'), {}))).toBe(1)
  })

  it('is content while our own daemon holds the journal, and leaves no lock of its own', async () => {
    const journal = files.write('held.jsonl', '')
    const lock = await lockJournal(journal)
    const [held] = await linesOf(journal, {})
    expect(held).toBe(
      `ok   settlement.journal: ${journal} is in use by another daemon (process ${process.pid}); its records were not read`,
    )
    await lock.release()
    expect(await linesOf(journal, {})).toEqual([`ok   settlement.journal: ${journal} has 0 records`])
    await (await lockJournal(journal)).release()
  })

  it('refuses a journal of another token or key, or of another helper with burns under way, in the words of a start', async () => {
    const journal = files.write('bound.jsonl', '')
    const { ledger, close } = await openTestLedger({ journal })
    const { nonce } = challengeOf(1)
    await ledger.issue(challengeOf(1))
    await ledger.claim(nonce, permitPayloadOf(challengeOf(1)))
    await ledger.recordSigned({ txNonce: 6, hash: hashOf(6), raw: '0x02', from: addressOf(3) }, [nonce])
    await close()
    const refusals = [
      [{ token: addressOf(9) }, 'it belongs to token'],
      [{ seed: 'cd' }, 'is not the key'],
      [{ helper: addressOf(9) }, 'are under way'],
    ] as const
    for (const [change, words] of refusals) {
      const ours = { ...testBinding, ...change }
      const [told = ''] = await linesOf(journal, { ours })
      expect(told).toMatch(new RegExp(`^fail .*${words}`))
      await expect(openTestLedger({ journal, binding: ours })).rejects.toThrow(told.replace('fail ', ''))
    }
    expect(await linesOf(journal, { ours: testBinding })).toEqual([expect.stringMatching(/^ok .* records$/)])
  })
})
