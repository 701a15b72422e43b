import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { burnOf, challengeOf, permitPayloadOf } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { temporaryFolder } from '../../test/folder.js'
import { parseConfig } from '../config/config.js'
import type { LogEvent } from '../telemetry/events.js'
import { openStorage } from './storage.js'

it('a payment is in the history when its step ends, and after restarts once', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'history.jsonl')
  const journal = join(folder, 'journal.jsonl')
  const config = parseConfig(minimalConfig().replace("journal = 'none'", `journal = '${journal}'`))
  const seed = new Uint8Array(32).fill(1)
  const events: LogEvent[] = []
  const clock = movableClock()
  clock.advance(1_700_000_001_000 - clock.now())
  const open = (history?: { path: string }) =>
    openStorage({ config, clock, log: (event) => events.push(event), seed, history })
  const kinds = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).event)
  const challenge = challengeOf(1)
  const first = await open({ path })
  await first.ledger.issue(challenge)
  expect(kinds()).toEqual(['history_bound', 'challenged'])
  await first.ledger.claim(challenge.nonce, permitPayloadOf(challenge))
  await first.ledger.accept(challenge.nonce, burnOf(1))
  expect(kinds()).toEqual(['history_bound', 'challenged', 'accepted'])
  expect((await first.history?.books.find(challenge.nonce))?.accepted?.burn).toEqual(burnOf(1))
  await first.close()
  const second = await open()
  await second.ledger.issue(challengeOf(2))
  await second.close()
  events.length = 0
  const third = await open({ path })
  expect(kinds()).toEqual(['history_bound', 'challenged', 'accepted', 'challenged'])
  expect(events).toContainEqual({ event: 'history.caught_up', payments: 1 })
  await third.close()
  rmSync(`${path}.index`, { recursive: true })
  const fourth = await open({ path })
  await fourth.close()
  expect(kinds()).toHaveLength(4)
})
