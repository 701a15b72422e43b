import { ClassicLevel } from 'classic-level'
import { afterEach, describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, deployment, seconds, units } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { createSeedCheck } from '../seed-check.js'
import { openIssuedFolder } from './folder.js'
import { createIssuedMemory } from './memory.js'
import type { FoundTransfer, IssuedStore } from './store.js'

const limits = { perAddressMax: 3 }
const { chainId, token } = deployment
const seedOf = (byte: number) => createSeedCheck(new Uint8Array(32).fill(byte), chainId)
const binding = { chainId, token, seed: seedOf(1) }
const journal = { id: 'one', generation: 3, isAccepted: false }
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const stores = {
  async folder() {
    const folder = temporaryFolder()
    const store = await openIssuedFolder({ folder, binding, journal, limits })
    closers.push(() => store.close())
    return store
  },
  memory: async () => createIssuedMemory({ ...limits, addressesMax: 1_000 }),
}

const transferOf = (leafIndex: number, value = 1000n): FoundTransfer => ({
  ...burnOf(leafIndex),
  leafIndex: BigInt(leafIndex),
  blockNumber: BigInt(leafIndex),
  value: units(value),
  minedAt: seconds(1_700_000_000 + leafIndex),
})

async function keptIn(store: IssuedStore) {
  const kept = []
  for await (const address of store.kept()) kept.push(address)
  return kept
}

describe.each(Object.entries(stores))('issued addresses in a %s', (_, open) => {
  it('are found by address, whole', async () => {
    const store = await open()
    const [first, second] = [challengeOf(1), challengeOf(2, { issuedAtBlock: 7n })]
    await store.put([first, second])
    await store.put([challengeOf(1, { amount: units(5n) })])
    expect(await store.find([addressOf(2), addressOf(3), addressOf(1)])).toEqual([second, undefined, first])
    expect(await store.firstBlock()).toBe(0n)
  })

  it('are forgotten by age, some at a time, with transfers that do not matter', async () => {
    const store = await open()
    await store.put([1, 2, 3, 4, 5].map((n) => challengeOf(n, { issuedAt: seconds(1_000 * n) })))
    await store.putTransfer(addressOf(1), transferOf(9), 0)
    await store.putTransfer(addressOf(3), transferOf(8, 1n), 0)
    const matter = async (_: unknown, transfers: readonly FoundTransfer[]) =>
      transfers.some(({ value }) => value > 1n)
    await store.forget(4_000, 1, matter)
    await store.forget(4_000, 10, matter)
    const isKnown = async () =>
      (await store.find([1, 2, 3, 4, 5].map(addressOf))).map((challenge) => challenge !== undefined)
    expect(await isKnown()).toEqual([true, false, false, true, true])
    expect((await keptIn(store)).map(({ payTo }) => payTo)).toEqual([addressOf(1)])
  })

  it('keep a transfer to one address however much dust lies at all the others', async () => {
    const store = await open()
    for (let address = 1; address <= 34; address += 1) {
      for (const leaf of [1, 2, 3])
        await store.putTransfer(addressOf(address), transferOf(3 * address + leaf, 1n), 0)
    }
    expect(await store.putTransfer(addressOf(99), transferOf(900), 0)).toBe('kept')
    expect(await store.transfersTo(addressOf(99))).toEqual([transferOf(900)])
  })

  it('keep transfers once, the largest of too many, and give up those of a reorg', async () => {
    const store = await open()
    const payTo = addressOf(1)
    expect(await store.putTransfer(payTo, transferOf(1), 10)).toBe('kept')
    expect(await store.putTransfer(payTo, transferOf(1), 10)).toBe('known')
    await store.putTransfer(payTo, transferOf(2, 20n), 10)
    await store.putTransfer(addressOf(2), transferOf(3), 10)
    await store.putTransfer(payTo, transferOf(4, 30n), 10)
    expect(await store.putTransfer(payTo, transferOf(5, 1n), 10)).toBe('full')
    expect(await store.putTransfer(payTo, transferOf(6, 50n), 10)).toBe('kept')
    expect((await keptIn(store)).map(({ transfers }) => transfers.length)).toEqual([3, 1])
    expect((await store.transfersTo(payTo))[0]).toEqual(transferOf(1))
    await store.dropTransfersAfter(2)
    expect((await store.transfersTo(payTo)).map(({ leafIndex }) => leafIndex)).toEqual([1n])
    await store.dropTransfers(payTo)
    expect(await keptIn(store)).toEqual([])
  })

  it('keep a transfer that a batch counted, whatever comes after it', async () => {
    const store = await open()
    await store.put([challengeOf(1)])
    const payTo = addressOf(1)
    for (let leaf = 1; leaf <= 3; leaf++) await store.putTransfer(payTo, transferOf(leaf, 1n), 10)
    for (let leaf = 1n; leaf <= 3n; leaf++) await store.mark(payTo, leaf, 'counted')
    // Followed again, after a restart.
    expect(await store.putTransfer(payTo, transferOf(1, 1n), 10)).toBe('known')
    expect(await store.putTransfer(payTo, transferOf(4, 50n), 10)).toBe('full')
    const kept = await store.transfersTo(payTo)
    expect(kept.map(({ leafIndex, beside }) => [leafIndex, beside])).toEqual([
      [1n, 'counted'],
      [2n, 'counted'],
      [3n, 'counted'],
    ])
  })

  it('say which address is due, until it was looked at', async () => {
    const store = await open()
    await store.putTransfer(addressOf(1), transferOf(1), 100)
    await store.putTransfer(addressOf(2), transferOf(2), 200)
    const [due, ...rest] = await store.due(150, 10)
    expect([due, rest]).toEqual([{ payTo: addressOf(1), dueAt: 100 }, []])
    await store.lookedAt({ payTo: addressOf(1), dueAt: 100 }, 300)
    expect(await store.due(250, 10)).toEqual([{ payTo: addressOf(2), dueAt: 200 }])
    await store.lookedAt({ payTo: addressOf(2), dueAt: 200 }, undefined)
    expect(await store.due(300, 10)).toEqual([{ payTo: addressOf(1), dueAt: 300 }])
  })

  it('say how far transfers were followed', async () => {
    const store = await open()
    expect(await store.followed()).toBeUndefined()
    const block = { number: 7, hash: `0x${'ab'.repeat(32)}`, token: { size: 3n, hashChain: 2n ** 247n } }
    await store.setFollowed(block)
    expect(await store.followed()).toEqual(block)
    await store.setFollowed({ number: 8, earlier: [block] })
    expect(await store.followed()).toEqual({ number: 8, earlier: [block] })
  })
})

describe('the folder of issued addresses', () => {
  it('is what it was when it is opened again, and refuses another token', async () => {
    const folder = temporaryFolder()
    const first = await openIssuedFolder({ folder, binding, journal, limits })
    await first.put([challengeOf(1)])
    await first.putTransfer(addressOf(1), transferOf(4), 0)
    await first.close()
    const again = await openIssuedFolder({ folder, binding, journal, limits })
    expect(await again.find([addressOf(1)])).toEqual([challengeOf(1)])
    expect(await again.transfersTo(addressOf(1))).toEqual([transferOf(4)])
    await again.close()
    const other = { ...binding, chainId: 1 }
    await expect(openIssuedFolder({ folder, binding: other, journal, limits })).rejects.toMatchObject({
      code: 'issued_unusable',
    })
  })

  it('refuses another treasury key, also where an older version named none', async () => {
    const folder = temporaryFolder()
    const open = (byte: number) =>
      openIssuedFolder({ folder, binding: { ...binding, seed: seedOf(byte) }, journal, limits })
    const store = await open(1)
    await store.put([challengeOf(1)])
    await store.close()
    await expect(open(2)).rejects.toMatchObject({ code: 'seed_mismatch' })
    await (await open(1)).close()

    const level = new ClassicLevel<string, string>(folder)
    await level.put('a', JSON.stringify({ format: 1, chainId, token }))
    await level.close()
    // None of its addresses derives from either.
    await expect(open(2)).rejects.toMatchObject({ code: 'seed_mismatch' })
  })

  it.each([
    ['another journal', { ...journal, id: 'two' }, true],
    ['an older state of the journal', { ...journal, generation: 2 }, true],
    ['a journal that the operator accepted', { ...journal, isAccepted: true }, true],
    ['a later state of the journal', { ...journal, generation: 4 }, false],
  ])('beside %s is followed and looked at anew: %#', async (_, beside, isAnew) => {
    const folder = temporaryFolder()
    const store = await openIssuedFolder({ folder, binding, journal, limits })
    await store.put([challengeOf(1)])
    await store.putTransfer(addressOf(1), transferOf(4), 5)
    await store.lookedAt({ payTo: addressOf(1), dueAt: 5 }, undefined)
    await store.setFollowed({ number: 8 })
    await store.close()
    const again = await openIssuedFolder({ folder, binding, journal: beside, limits })
    closers.push(() => again.close())
    expect(await again.followed()).toEqual(isAnew ? undefined : { number: 8 })
    expect(await again.due(5, 10)).toEqual(isAnew ? [{ payTo: addressOf(1), dueAt: 0 }] : [])
    expect(await again.transfersTo(addressOf(1))).toEqual([transferOf(4)])
  })
})
