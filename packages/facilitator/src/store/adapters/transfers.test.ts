import { describe, expect, it } from 'vitest'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../../test/challenges.js'
import { openTestStore } from '../../../test/store.js'
import { burnIn } from '../../payment/found/judge-transfers.js'

const transferOf = (leaf: number, block = leaf) => ({
  ...burnOf(leaf),
  leafIndex: BigInt(leaf),
  blockNumber: BigInt(block),
  value: units(5n),
  minedAt: seconds(1_700_000_000),
})

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('transfers to issued addresses', () => {
  it('are kept once each, with the time of the next look', async () => {
    const { issued, ledger, close } = await openTestStore()
    await ledger.issue(challengeOf(1))
    for (const leaf of [1, 2, 3])
      expect(await issued.putTransfer(addressOf(1), transferOf(leaf), leaf)).toBe('kept')
    expect(await issued.putTransfer(addressOf(1), transferOf(3), 100)).toBe('known')
    expect(await issued.transfersTo(addressOf(1))).toHaveLength(3)
    expect(await issued.due(99, 10)).toEqual([])
    expect(await issued.due(100, 10)).toEqual([{ payTo: addressOf(1), dueAt: 100 }])
    // A transfer that came while the address was looked at has set another time.
    await issued.putTransfer(addressOf(1), transferOf(4), 120)
    await issued.accountedFor({ payTo: addressOf(1), dueAt: 100 }, undefined)
    expect(await issued.due(120, 10)).toHaveLength(1)
    await issued.accountedFor({ payTo: addressOf(1), dueAt: 120 }, 200)
    expect(await issued.due(120, 10)).toEqual([])
    await close()
  })

  it('are bounded for each address: a larger one takes the place of the smallest, and of none that a batch counted', async () => {
    const { issued, ledger, close } = await openTestStore()
    await ledger.issue(challengeOf(1))
    const put = (leaf: number, value: bigint) =>
      issued.putTransfer(addressOf(1), { ...transferOf(leaf), value: units(value) }, 0)
    for (const leaf of [1, 2, 3, 4]) await put(leaf, BigInt(leaf))
    await issued.mark([{ challenge: challengeOf(1), burn: transferOf(1) }])
    expect(await put(5, 2n)).toBe('full')
    expect(await put(5, 3n)).toBe('kept')
    const kept = await issued.transfersTo(addressOf(1))
    expect(kept.map(({ leafIndex, isCounted }) => [leafIndex, isCounted])).toEqual([
      [1n, true],
      [3n, undefined],
      [4n, undefined],
      [5n, undefined],
    ])
    // A transfer that a batch counted stays counted, also when a reorg was followed again.
    await issued.dropTransfersAfter(0)
    await put(1, 1n)
    expect(await issued.transfersTo(addressOf(1))).toMatchObject([{ isCounted: true }])
    await close()
  })

  it('are found by the epoch and the treasury of their addresses', async () => {
    const { issued, ledger, close } = await openTestStore()
    const epoch = { start: 100, ledger: 'ab' }
    const own = challengeOf(1, { epoch })
    const others = [
      challengeOf(2, { epoch: { ...epoch, start: 200 } }),
      challengeOf(3, { epoch, treasury: addressOf(9) }),
      challengeOf(4),
    ]
    for (const challenge of [own, ...others]) await ledger.issue(challenge)
    for (const leaf of [1, 2, 3, 4]) await issued.putTransfer(addressOf(leaf), transferOf(leaf), 0)
    await issued.putTransfer(addressOf(1), transferOf(5), 0)
    await issued.mark([{ challenge: own, burn: transferOf(5) }])
    expect(await issued.found({ ...epoch, treasury: own.treasury })).toEqual([
      { challenge: own, burn: burnIn(transferOf(1)), isCounted: false },
      { challenge: own, burn: burnIn(transferOf(5)), isCounted: true },
    ])
    await close()
  })

  it('of blocks that a reorg took are dropped, and following goes on from where it was set', async () => {
    const { issued, ledger, close } = await openTestStore()
    expect([await issued.firstBlock(), await issued.followed()]).toEqual([undefined, undefined])
    await ledger.issue(challengeOf(1, { issuedAtBlock: 7n }))
    expect(await issued.firstBlock()).toBe(7n)
    const block = { number: 9, hash: hashOf(9), token: { size: 3n, hashChain: 2n ** 200n } }
    await issued.setFollowed({ ...block, earlier: [{ number: 8 }] })
    expect(await issued.followed()).toEqual({ ...block, earlier: [{ number: 8 }] })
    await issued.putTransfer(addressOf(1), transferOf(1, 8), 0)
    await issued.putTransfer(addressOf(2), transferOf(2, 9), 0)
    await issued.dropTransfersAfter(8)
    expect((await listOf(issued.kept())).map(({ payment }) => payment.challenge.payTo)).toEqual([
      addressOf(1),
    ])
    await issued.dropTransfers(addressOf(1))
    expect(await listOf(issued.kept())).toEqual([])
    expect(await issued.find([addressOf(2), addressOf(1)])).toMatchObject([
      undefined,
      { challenge: { payTo: addressOf(1) } },
    ])
    await close()
  })

  it('are forgotten with challenges that nobody paid, unless they are worth a mint or on record', async () => {
    const { issued, ledger, books, close } = await openTestStore()
    for (const n of [1, 2, 3]) await ledger.issue(challengeOf(n))
    await ledger.claim(challengeOf(3).nonce, permitPayloadOf(challengeOf(3)))
    await ledger.recordLate(challengeOf(4), burnOf(4), 'late')
    await issued.putTransfer(addressOf(2), transferOf(1), 0)
    expect(await issued.forget(1_700_000_001, 10, 5n)).toBe(1)
    expect(await books.find(challengeOf(1).nonce)).toBeUndefined()
    expect(await issued.forget(1_700_000_001, 10, 6n)).toBe(1)
    expect(await issued.find([1, 2, 3, 4].map(addressOf))).toMatchObject([
      undefined,
      undefined,
      { challenge: { payTo: addressOf(3) } },
      { challenge: { payTo: addressOf(4) } },
    ])
    await close()
  })
})
