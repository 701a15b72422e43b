/**
 * The daemon is killed behind every single change of its disk: the files of such a kill are a copy of the folder at that
 * moment. Each copy is opened again, and must hold every record that anybody was told of, and none twice.
 */
import { statSync, truncateSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'
import { expect, it, vi } from 'vitest'
import { burnOf, challengeOf, hashOf, permitPayloadOf, units } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import type { HistoryWorld, ReadHistory } from '../../test/history-world.js'
import type { Burn } from '../payment/records.js'

/** Called behind every change of the disk, with the kind of the change. */
const disk = vi.hoisted(() => ({ changed: (_what: string, _path: string): void => undefined }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const watched = (file: FileHandle, path: string): FileHandle => {
    for (const what of ['write', 'datasync', 'sync', 'truncate'] as const) {
      const change = file[what].bind(file) as (...args: unknown[]) => Promise<unknown>
      Object.assign(file, {
        [what]: async (...args: unknown[]) => {
          const result = await change(...args)
          disk.changed(what, path)
          return result
        },
      })
    }
    return file
  }
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => watched(await real.open(...args), `${args[0]}`),
    rename: async (...args: Parameters<typeof real.rename>) => {
      await real.rename(...args)
      disk.changed('rename', `${args[1]}`)
    },
  }
})

// Loaded anew: modules that another test has loaded write to the disk unwatched.
vi.resetModules()
const { copyOf, historyIn, kindsOf, ofHistory, ofLedger, openWorld, readHistory } = await import(
  '../../test/history-world.js'
)

const challenges = [challengeOf(1), challengeOf(2), challengeOf(3), challengeOf(4), challengeOf(5)] as const
const nonces = challenges.map(({ nonce }) => nonce)
const burn = (seed: number, value = 1000n, place = 0): Burn => ({
  ...burnOf(seed),
  value: units(value),
  blockHash: hashOf(seed * 100 + place),
})
const mint = (seed: number, value = 1000n) => ({ txHash: hashOf(seed), blockNumber: 9n, value: units(value) })

/** Every kind of record, a compaction in between, and more than one file. */
async function* course({ ledger, history, compact, clock }: HistoryWorld): AsyncGenerator<void> {
  const [a, b, c, d, e] = challenges
  const accept = async (challenge: typeof a, seed: number) => {
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
    clock.advance(2_000)
    await ledger.accept(challenge.nonce, burn(seed))
  }
  yield void (await ledger.issue(a))
  yield void (await Promise.all([ledger.issue(b), ledger.issue(c), ledger.issue(d)]))
  yield void (await accept(a, 1))
  yield void (await ledger.moveBurn(a.nonce, burn(1, 1000n, 1)))
  yield void (await accept(b, 2))
  yield void (await ledger.demote(b.nonce))
  clock.advance(2_000)
  yield void (await ledger.accept(b.nonce, burn(3)))
  const grant = await ledger.takeGrant(a.nonce, 1_000)
  if (typeof grant !== 'string') await grant.use()
  yield void (await ledger.finalize(a.nonce, mint(11), units(1000n)))
  yield void (await compact(0))
  yield void (await ledger.recordUnmatched(c.nonce, { txHash: hashOf(77), reason: 'burn_underpaid' }))
  yield void (await ledger.recordLate(c, burn(5, 300n), 'underpaid'))
  yield void (await ledger.finalize(c.nonce, mint(12, 300n), units(300n)))
  yield void (await ledger.recordLate(c, burn(6, 700n), 'underpaid'))
  yield void (await ledger.finalize(c.nonce, mint(13, 400n), units(700n)))
  yield void (await history?.disclose(a.nonce, burn(1).from))
  yield void (await ledger.finalize(b.nonce, mint(14), units(1000n)))
  yield void (await ledger.recordLate(b, burn(7, 1500n), 'second'))
  yield void (await ledger.finalize(b.nonce, mint(15, 500n), units(1500n)))
  yield void (await compact(0))
  yield void (await ledger.issue(e))
}

type Image = {
  readonly folder: string
  readonly what: string
  readonly path: string
  readonly told: ReadonlyMap<ChallengeNonce, number>
}

it('a kill behind any change of the disk loses no record that anybody was told of, and doubles none', async () => {
  const folder = temporaryFolder()
  const copies = temporaryFolder()
  const images: Image[] = []
  let told: ReadonlyMap<ChallengeNonce, number> = new Map()
  const batch = ClassicLevel.prototype.batch as (...args: unknown[]) => Promise<unknown>
  const spy = vi.spyOn(ClassicLevel.prototype, 'batch').mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    const result = await batch.apply(this, args)
    disk.changed('index batch', '')
    return result
  } as never)
  const world = await openWorld(folder)
  disk.changed = (what, path) => {
    const image = { folder: join(copies, `${images.length}`), what, path, told }
    copyOf(folder, image.folder)
    images.push(image)
  }
  let steps = 0
  for await (const _ of course(world)) {
    // A step that ended is in the files, whatever comes next. The index may come later, unless somebody asks it.
    const { payments } = await readHistory(folder)
    const isAsked = steps++ % 4 === 0
    for (const nonce of nonces) {
      const recorded = ofLedger(await world.ledger.books.find(nonce))
      expect(ofHistory(payments.get(nonce))).toEqual(recorded)
      if (isAsked) expect(ofHistory(await world.history?.books.find(nonce))).toEqual(recorded)
    }
    told = new Map(nonces.map((nonce) => [nonce, payments.get(nonce)?.turns.length ?? 0]))
  }
  await world.close()
  disk.changed = () => undefined
  spy.mockRestore()
  const whole = await readHistory(folder)
  expect([...new Set(whole.records.map(({ event }) => event))].sort()).toEqual(
    ['accepted', 'challenged', 'demoted', 'disclosed', 'finalized', 'late', 'moved', 'unmatched'].sort(),
  )
  expect(new Set(images.map(({ what }) => what))).toEqual(
    new Set(['write', 'datasync', 'sync', 'rename', 'index batch']),
  )

  const appended = images.filter(({ what, path }) => what === 'write' && path === historyIn(folder))
  // The torn ones are kills on a disk that took only a part of the last line.
  const all = [...images, ...appended.map(tornOf)]
  for (let i = 0; i < all.length; i += atOnce) {
    await Promise.all(all.slice(i, i + atOnce).map((image) => expectWhole(image, whole)))
  }
}, 240_000)

/** Copies that are opened side by side. */
const atOnce = 8

function tornOf({ folder, ...image }: Image): Image {
  const torn = `${folder}-torn`
  copyOf(folder, torn)
  truncateSync(historyIn(torn), statSync(historyIn(torn)).size - 20)
  return { ...image, folder: torn }
}

async function expectWhole({ folder, what, path, told }: Image, whole: ReadHistory) {
  const place = `${folder} behind ${what} ${path}`
  const world = await openWorld(folder)
  const known = await Promise.all(nonces.map((nonce) => world.ledger.books.find(nonce)))
  await vi.waitFor(() => expect(world.history?.port.isDurable()).toBe(true))
  await world.close()
  const read = await readHistory(folder)
  for (const [i, nonce] of nonces.entries()) {
    const kinds = kindsOf(read, nonce)
    expect(kinds, place).toEqual(kindsOf(whole, nonce).slice(0, kinds.length))
    expect(kinds.length, place).toBeGreaterThanOrEqual(told.get(nonce) ?? 0)
    if (known[i]) expect(ofHistory(read.payments.get(nonce)), place).toEqual(ofLedger(known[i]))
  }
  const again = await openWorld(folder)
  await again.close()
  expect((await readHistory(folder)).lines, place).toBe(read.lines)
}
