import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { minimalConfig } from '../../test/config.js'
import { temporaryFolder } from '../../test/folder.js'
import { parseConfig } from '../config/config.js'
import { openStorage } from './storage.js'

/** Opens the storage beside this journal, and closes it; says up to which block transfers were followed. */
async function followedBeside(journal: string, isCopyAccepted: boolean, next?: number) {
  const config = parseConfig(minimalConfig().replace("journal = 'none'", `journal = '${journal}'`))
  const seed = new Uint8Array(32).fill(1)
  const storage = await openStorage({
    config,
    clock: movableClock(),
    log: () => undefined,
    seed,
    isCopyAccepted,
  })
  if (storage.isCopy) await storage.store.change('acceptCopy', 0)
  const followed = await storage.issued.followed()
  if (next !== undefined) await storage.issued.setFollowed({ number: next })
  await storage.close()
  return followed
}

it('transfers are followed from the start again beside another journal, or one that the operator accepted', async () => {
  const journal = join(temporaryFolder(), 'journal.jsonl')
  expect(await followedBeside(journal, false, 8)).toBeUndefined()
  expect(await followedBeside(journal, false)).toEqual({ number: 8 })
  expect(await followedBeside(journal, true, 9)).toBeUndefined()
  expect(await followedBeside(journal, false)).toEqual({ number: 9 })
  for (const file of ['', '.mark', '.db']) rmSync(`${journal}${file}`)
  expect(await followedBeside(journal, false)).toBeUndefined()
})
