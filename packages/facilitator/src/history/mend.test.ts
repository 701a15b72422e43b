/** An index that is damaged, as disks and operators damage it, is made anew, and no record is lost or doubled by it. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describe, expect, it } from 'vitest'
import { challengeOf, nonceOf, units } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import {
  type HistoryWorld,
  historyIn,
  kindsOf,
  mintOf,
  openWorld,
  payIn,
  readHistory,
} from '../../test/history-world.js'

const indexIn = (folder: string) => `${historyIn(folder)}.index`
const payments = Array.from({ length: 20 }, (_, i) => i + 1)
const scope = { kind: 'treasury', treasury: challengeOf(1).treasury } as const
const period = { since: 0, until: 2_000_000_000 }
const finalize = ({ ledger }: HistoryWorld, seed: number) =>
  ledger.finalize(nonceOf(seed), mintOf(seed), units(1000n))

async function accepted() {
  const folder = temporaryFolder()
  const world = await openWorld(folder)
  for (const seed of payments) await payIn(world, seed)
  await world.close()
  return { folder, clock: world.clock }
}

async function expectWhole(folder: string, world: HistoryWorld): Promise<void> {
  await Promise.all(payments.map((seed) => finalize(world, seed)))
  const total = { payments: payments.length, amount: BigInt(payments.length) * 1000n }
  expect(await world.history?.books.totals(scope, period)).toMatchObject({
    accepted: total,
    finalized: total,
  })
  await world.close()
  const history = await readHistory(folder)
  for (const seed of payments) {
    expect(kindsOf(history, nonceOf(seed))).toEqual(['challenged', 'accepted', 'finalized'])
  }
}

/** Changes the database itself. */
async function inLevel(folder: string, change: (level: ClassicLevel<Buffer, Buffer>) => Promise<void>) {
  const level = new ClassicLevel<Buffer, Buffer>(indexIn(folder), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
  await change(level)
  await level.close()
}

const intoTables = (folder: string) =>
  inLevel(folder, (level) => level.compactRange(Buffer.of(0), Buffer.of(0xff)))

async function changeFiles(folder: string, end: string, change: (path: string) => void) {
  const names = readdirSync(indexIn(folder)).filter((name) => name.includes(end))
  expect(names).not.toEqual([])
  for (const name of names) change(join(indexIn(folder), name))
}

async function withoutKeys(folder: string, isGone: (key: Buffer, value: Buffer) => boolean): Promise<void> {
  await inLevel(folder, async (level) => {
    for (const [key, value] of await level.iterator().all()) if (isGone(key, value)) await level.del(key)
  })
}

/** A power failure may keep later pages of a log and lose earlier ones. */
function withHole(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, 1_000, 2_000))
}

const damages: Record<string, (folder: string) => Promise<void>> = {
  'without its list of files': (folder) => changeFiles(folder, 'MANIFEST', rmSync),
  'with tables that were cut short': async (folder) => {
    await intoTables(folder)
    await changeFiles(folder, '.ldb', (path) => truncateSync(path, Math.floor(statSync(path).size / 2)))
  },
  'with empty tables': async (folder) => {
    await intoTables(folder)
    await changeFiles(folder, '.ldb', (path) => truncateSync(path, 0))
  },
  'with a hole in its log': (folder) => changeFiles(folder, '.log', withHole),
  'whose state cannot be read': (folder) =>
    inLevel(folder, (level) => level.put(Buffer.from('!'), Buffer.from('{"form'))),
}

describe('a history whose index is damaged', () => {
  it.each(Object.entries(damages))('starts with an index %s, and says so', async (_, damage) => {
    const { folder, clock } = await accepted()
    await damage(folder)
    const world = await openWorld(folder, { clock })
    expect(world.events.map(({ event }) => event).filter((event) => event !== 'history.rotated')).toEqual([
      'history.index_damaged',
      'history.indexed',
      'history.opened',
    ])
    await expectWhole(folder, world)
  })

  it.each([
    ['a payment', (world: HistoryWorld) => finalize(world, 2)],
    [
      'a question',
      async ({ history }: HistoryWorld) => {
        const page = history?.books.page({ scope, order: 'time', limit: 50 })
        await expect(page).rejects.toMatchObject({ code: 'journal_failed' })
      },
    ],
  ])('goes on by itself when %s finds that a payment is missing', async (_, find) => {
    const { folder, clock } = await accepted()
    await withoutKeys(folder, (key) => key[0] === 'p'.charCodeAt(0) && key.includes(2, 30))
    const world = await openWorld(folder, { clock })
    await find(world)
    expect(world.events).toContainEqual({ event: 'history.index_damaged', err: expect.any(Error) })
    while (!world.events.some(({ event }) => event === 'history.indexed')) await new Promise(setImmediate)
    await world.history?.port.durable()
    await expectWhole(folder, world)
    // The next start compares nothing again: the new index knows how far the history is complete.
    const next = await openWorld(folder, { clock })
    expect(next.caughtUp()).toBeUndefined()
    await next.close()
  })

  it('goes on by itself when a sum would fall below nothing', async () => {
    const { folder, clock } = await accepted()
    await withoutKeys(folder, (key) => 'sh'.includes(key.toString('latin1', 0, 1)))
    const world = await openWorld(folder, { clock })
    await world.ledger.demote(nonceOf(7))
    await expect(world.history?.books.totals(scope, period)).rejects.toMatchObject({ code: 'journal_failed' })
    expect(world.events).toContainEqual({ event: 'history.index_damaged', err: expect.any(Error) })
    while (!world.events.some(({ event }) => event === 'history.indexed')) await new Promise(setImmediate)
    expect(await world.history?.books.totals(scope, period)).toMatchObject({ accepted: { payments: 19 } })
    await world.close()
  })

  it('says that its files are older than the index, or have lost their end', async () => {
    const { folder, clock } = await accepted()
    const { lines } = await readHistory(folder)
    rmSync(historyIn(folder))
    const world = await openWorld(folder, { clock })
    const told = world.events.find(({ event }) => event === 'history.index_discarded')
    expect(told).toMatchObject({ indexed: lines })
    while (world.caughtUp() === undefined) await new Promise(setImmediate)
    await expectWhole(folder, world)
  })
})
