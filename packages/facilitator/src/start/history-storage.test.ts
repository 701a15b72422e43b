import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { burnOf, challengeOf, permitPayloadOf } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { temporaryFolder } from '../../test/folder.js'
import { parseConfig } from '../config/config.js'
import { openStorage } from './storage.js'

it('a payment is in the history at once, in its file soon, and after restarts once', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'history.jsonl')
  const journal = join(folder, 'journal.jsonl')
  const config = parseConfig(minimalConfig().replace("journal = 'none'", `journal = '${journal}'`))
  const seed = new Uint8Array(32).fill(1)
  const clock = movableClock()
  clock.advance(1_700_000_001_000 - clock.now())
  const open = (history?: { path: string }) =>
    openStorage({ config, clock, log: () => undefined, seed, history })
  const kinds = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).event)
  const challenge = challengeOf(1)
  const first = await open({ path })
  await first.ledger.issue(challenge)
  await first.ledger.claim(challenge.nonce, permitPayloadOf(challenge))
  await first.ledger.accept(challenge.nonce, burnOf(1))
  expect((await first.history?.books.find(challenge.nonce))?.accepted?.burn).toEqual(burnOf(1))
  await first.close()
  expect(kinds()).toEqual(['history_bound', 'challenged', 'accepted'])
  const second = await open()
  await second.ledger.issue(challengeOf(2))
  await second.close()
  const third = await open({ path })
  await third.close()
  const all = ['history_bound', 'challenged', 'accepted', 'challenged']
  expect(kinds()).toEqual(all)
  // A file that was lost is written again from the ledger.
  rmSync(path)
  const fourth = await open({ path })
  await fourth.close()
  expect(kinds()).toEqual(all)
})
