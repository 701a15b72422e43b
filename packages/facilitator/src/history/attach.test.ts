/** A history that comes to a journal late, was restored, or stands beside a journal that was. */
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'
import { expect, it, vi } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import {
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import {
  type HistoryWorld,
  historyIn,
  journalIn,
  kindsOf,
  mintOf,
  ofHistory,
  ofLedger,
  openWorld,
  payIn,
  readHistory,
} from '../../test/history-world.js'
import { contractSettings, describeLedger, type LedgerUnderTest } from '../../test/ledger-contract.js'

async function pay(world: HistoryWorld, seed: number): Promise<ChallengeNonce> {
  const nonce = await payIn(world, seed)
  const grant = await world.ledger.takeGrant(nonce, 1_000)
  if (typeof grant !== 'string') await grant.use()
  return nonce
}

async function caughtUp(world: HistoryWorld): Promise<number> {
  await vi.waitFor(() => expect(world.caughtUp()).toBeDefined())
  return world.caughtUp() ?? 0
}

async function expectSame(world: HistoryWorld, nonces: readonly ChallengeNonce[]): Promise<void> {
  for (const nonce of nonces) {
    const view = await world.history?.books.find(nonce)
    expect(ofHistory(view)).toEqual(ofLedger(await world.ledger.books.find(nonce)))
  }
}

it('gets every payment of a journal that had no history, archived ones too, and then none again', async () => {
  const folder = temporaryFolder()
  const bare = await openWorld(folder, { attached: false })
  const seeds = Array.from({ length: 300 }, (_, i) => i + 1)
  const nonces = await Promise.all(seeds.map((seed) => pay(bare, seed)))
  const minted = seeds.slice(0, 100)
  await Promise.all(minted.map((seed) => bare.ledger.finalize(nonceOf(seed), mintOf(seed), units(1000n))))
  await bare.ledger.recordLate(challengeOf(400), burnOf(400), 'late')
  expect(await bare.compact(0)).toHaveProperty('recordsAfter')
  await bare.ledger.issue(challengeOf(401))
  await bare.close()
  nonces.push(nonceOf(400), nonceOf(401))

  const { clock } = bare
  const first = await openWorld(folder, { clock })
  // The daemon works meanwhile, and its own records are not held up.
  nonces.push(await pay(first, 500))
  expect(await caughtUp(first)).toBe(302)
  await expectSame(first, nonces)
  await first.close()
  const { lines, records } = await readHistory(folder)
  expect(records).toHaveLength(300 * 2 + 100 + 2 + 1 + 2)
  expect(readdirSync(folder).filter((name) => /history\.jsonl\.\d+$/.test(name)).length).toBeGreaterThan(1)

  const second = await openWorld(folder, { clock })
  await second.close()
  expect(second.caughtUp()).toBeUndefined()
  expect((await readHistory(folder)).lines).toBe(lines)
})

it('gets what a run without it recorded, and nothing else is compared', async () => {
  const folder = temporaryFolder()
  const first = await openWorld(folder)
  const known = [await pay(first, 1), await pay(first, 2)]
  await first.close()
  const bare = await openWorld(folder, { attached: false, clock: first.clock })
  await bare.ledger.finalize(nonceOf(2), mintOf(2), units(1000n))
  await bare.ledger.issue(challengeOf(3))
  await bare.close()
  const second = await openWorld(folder, { clock: first.clock })
  expect(second.caughtUp()).toBe(2)
  await expectSame(second, [...known, nonceOf(3)])
  await second.close()
})

it('keeps what it knows beside a restored, older journal, and records what happens then', async () => {
  const folder = temporaryFolder()
  const first = await openWorld(folder)
  const one = await pay(first, 1)
  await first.ledger.issue(challengeOf(2))
  await first.close()
  const old = join(temporaryFolder(), 'old.jsonl')
  cpSync(journalIn(folder), old)
  const second = await openWorld(folder, { clock: first.clock })
  await second.ledger.moveBurn(one, { ...burnOf(1), blockHash: hashOf(99) })
  await second.ledger.finalize(one, mintOf(1), units(1000n))
  await second.ledger.claim(nonceOf(2), permitPayloadOf(challengeOf(2), { nonce: 2n }))
  await second.ledger.accept(nonceOf(2), burnOf(2))
  await second.ledger.demote(nonceOf(2))
  await second.close()
  const before = await readHistory(folder)

  cpSync(old, journalIn(folder))
  const third = await openWorld(folder, { clock: first.clock, acceptJournal: true })
  expect(await caughtUp(third)).toBe(2)
  expect((await readHistory(folder)).lines).toBe(before.lines)
  // The daemon meets the same facts again.
  await third.ledger.claim(nonceOf(2), permitPayloadOf(challengeOf(2), { nonce: 2n }))
  first.clock.advance(5_000)
  await third.ledger.accept(nonceOf(2), burnOf(3))
  await third.ledger.moveBurn(one, { ...burnOf(1), blockHash: hashOf(99) })
  await third.ledger.finalize(one, mintOf(1), units(1000n))
  await third.close()
  const after = await readHistory(folder)
  expect(kindsOf(after, one)).toEqual(['challenged', 'accepted', 'moved', 'finalized'])
  expect(kindsOf(after, nonceOf(2))).toEqual(['challenged', 'accepted', 'demoted', 'accepted'])
})

it('agrees with a journal that was lost and recovered from the chain', async () => {
  const folder = temporaryFolder()
  const first = await openWorld(folder)
  const [minted, waiting] = [await pay(first, 1), await pay(first, 2)]
  await first.ledger.finalize(minted, mintOf(1), units(1000n))
  await first.close()
  for (const name of readdirSync(folder)) {
    if (name.startsWith('journal')) rmSync(join(folder, name), { recursive: true })
  }
  // A recovery finds the burn that is not minted yet, and knows neither its terms nor what it bought.
  const recovery = await openWorld(folder, { attached: false, clock: first.clock })
  const unknown = challengeOf(2, { issuedAt: seconds(1_700_000_200), amount: units(1n) })
  await recovery.ledger.recordLate(unknown, burnOf(2), 'unrecorded')
  await recovery.ledger.finalize(waiting, mintOf(2), units(1000n))
  await recovery.close()

  const next = await openWorld(folder, { clock: first.clock })
  await caughtUp(next)
  const two = { payments: 2, amount: 2000n }
  const scope = { kind: 'treasury', treasury: challengeOf(1).treasury } as const
  expect(await next.history?.books.totals(scope, { since: 0, until: 2_000_000_000 })).toMatchObject({
    ...{ accepted: two, finalized: two, late: { payments: 0 } },
  })
  await next.close()
  const history = await readHistory(folder)
  for (const nonce of [minted, waiting]) {
    expect(kindsOf(history, nonce)).toEqual(['challenged', 'accepted', 'finalized'])
  }
})

it('is made anew of what the journal knows when its files are gone, and its index when that is gone', async () => {
  const folder = temporaryFolder()
  const first = await openWorld(folder)
  const nonces = [await pay(first, 1), await pay(first, 2)]
  await first.close()
  const { lines } = await readHistory(folder)
  rmSync(`${historyIn(folder)}.index`, { recursive: true })
  const second = await openWorld(folder, { clock: first.clock })
  await caughtUp(second)
  await expectSame(second, nonces)
  await second.close()
  expect((await readHistory(folder)).lines).toBe(lines)
  for (const name of readdirSync(folder)) {
    if (name === 'history.jsonl' || /^history\.jsonl\.\d+$/.test(name)) rmSync(join(folder, name))
  }
  const third = await openWorld(folder, { clock: first.clock })
  await caughtUp(third)
  await expectSame(third, nonces)
  await third.close()
  expect((await readHistory(folder)).records).toHaveLength(4)
})

it('an index with a damaged value is made anew', async () => {
  const folder = temporaryFolder()
  const first = await openWorld(folder)
  const nonce = await pay(first, 1)
  await first.close()
  const index = new ClassicLevel<Buffer, Buffer>(`${historyIn(folder)}.index`, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
  for (const [key, value] of await index.iterator().all()) {
    if (value.includes(nonce)) await index.put(key, value.subarray(1))
  }
  await index.close()
  const second = await openWorld(folder, { clock: first.clock })
  await expectSame(second, [nonce])
  await second.close()
  expect((await readHistory(folder)).records).toHaveLength(2)
})

describeLedger('with a history', async () => {
  const folder = temporaryFolder()
  const { advance, ...stopped } = stoppedClock()
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms < 600_000
      ? Promise.resolve()
      : new Promise<void>((end) => signal?.addEventListener('abort', () => end()))
  const clock = { ...stopped, sleep, advance }
  const open = async (): Promise<LedgerUnderTest> => {
    const world = await openWorld(folder, { clock, settings: contractSettings })
    return {
      ledger: world.ledger,
      advance,
      reopen: () => world.close().then(open),
      close: () => world.close(),
    }
  }
  return open()
})
