import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/folder.js'
import { openTestLedger } from '../../test/open-ledger.js'
import { told } from '../commands/storage/migrate.js'
import { databaseOf, migrateBeside } from './engine/open-database.js'
import { openSqlite } from './engine/sqlite.js'
import type { Migration } from './migrate.js'
import { sql } from './sql.js'

const next: Migration = {
  what: 'a word about each payment',
  statements:
    'ALTER TABLE payment ADD COLUMN word TEXT;\nCREATE TABLE word (id INT PRIMARY KEY, nonce KEY);\n',
  isAdditive: true,
}

describe('the tables beside a journal', () => {
  const made = async () => {
    const journal = join(temporaryFolder(), 'journal')
    await (await openTestLedger({ journal })).close()
    return journal
  }
  const versionOf = (journal: string) => {
    const connection = openSqlite(databaseOf(journal))
    const [row] = connection.query(sql`SELECT schema_version, writers_from FROM ledger`)
    connection.close()
    return row
  }

  it('are migrated from any older version, once, and a dry run changes nothing', async () => {
    const journal = await made()
    const known = [next]
    expect(migrateBeside(journal, { isDryRun: true, known })).toEqual([next])
    expect(versionOf(journal)).toMatchObject({ schema_version: 1 })
    expect(migrateBeside(journal, { isDryRun: false, known })).toEqual([next])
    expect(versionOf(journal)).toMatchObject({ schema_version: 2, writers_from: 1 })
    expect(migrateBeside(journal, { isDryRun: false, known })).toEqual([])
    const breaking = { ...next, statements: 'DROP TABLE word;\n', isAdditive: false }
    expect(migrateBeside(journal, { isDryRun: false, known: [next, breaking] })).toEqual([breaking])
    expect(versionOf(journal)).toMatchObject({ schema_version: 3, writers_from: 3 })
  })

  it('stay as they were when a statement of a migration fails', async () => {
    const journal = await made()
    const known = [next, { ...next, what: 'the same once more' }]
    expect(() => migrateBeside(journal, { isDryRun: false, known })).toThrow(/word/)
    expect(versionOf(journal)).toMatchObject({ schema_version: 1 })
  })

  it('of a newer version are refused, with both versions', async () => {
    const journal = await made()
    migrateBeside(journal, { isDryRun: false, known: [next] })
    await expect(openTestLedger({ journal })).rejects.toMatchObject({
      code: 'ledger_newer',
      message: expect.stringMatching(/schema 2.*knows 1/),
    })
  })

  it('that are not there are not made by a migration', () => {
    const journal = join(temporaryFolder(), 'journal')
    expect(migrateBeside(journal, { isDryRun: false })).toBeUndefined()
    expect(existsSync(databaseOf(journal))).toBe(false)
  })

  it('are told of in words: what changes, how, and what daemons that run do', () => {
    const say = (isDryRun: boolean, done?: readonly Migration[]) =>
      told('storage.url', isDryRun, done, [next])
    expect(say(true, [next])).toBe(
      `storage.url: version 2: a word about each payment; daemons that run go on\n${next.statements}nothing was changed\n`,
    )
    expect(say(false, [{ ...next, isAdditive: false }])).toBe(
      'storage.url: version 2: a word about each payment; daemons that run write nothing more\n',
    )
    expect(say(false, [])).toMatch(/version 2; nothing is to be done/)
    expect(say(false)).toMatch(/no tables are there yet/)
  })
})
