import { join } from 'node:path'
import { expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { minimalConfig } from '../../../test/config.js'
import { temporaryFolder } from '../../../test/folder.js'
import { parseConfig } from '../../config/config.js'
import { openRecoveryStorage } from './storage.js'

const seed = new Uint8Array(32).fill(1)

it('a dry run follows transfers again as the run itself would, and leaves the daemon’s own cursor alone', async () => {
  const journal = join(temporaryFolder(), 'journal.jsonl')
  const config = parseConfig(minimalConfig().replace("journal = 'none'", `journal = '${journal}'`))
  const followed = async (dryRun: boolean, acceptJournal: boolean, next?: number) => {
    const options = { config, clock: movableClock(), log: () => undefined, dryRun, acceptJournal }
    const { storage, close } = await openRecoveryStorage(options, seed)
    if (storage.isCopy) await storage.acceptCopy(0n)
    const before = await storage.issued.followed()
    if (next !== undefined) await storage.issued.setFollowed({ number: next })
    await close()
    return before
  }
  expect(await followed(false, false, 8)).toBeUndefined()
  expect(await followed(true, false, 9)).toEqual({ number: 8 })
  expect(await followed(true, true)).toBeUndefined()
  expect(await followed(false, false)).toEqual({ number: 8 })
})
