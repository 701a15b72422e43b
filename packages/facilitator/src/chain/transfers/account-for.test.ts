import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  seconds,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import type { RereadBurn } from '../../payment/finalize/ports.js'
import { burnIn, type FoundTransfer } from '../../payment/found/judge-transfers.js'
import type { Challenge } from '../../payment/records.js'
import type { FlowEvent } from '../../payment/report.js'
import { type AccountForDeps, createAccountForTransfers } from './account-for.js'
import { createStuckTransfers } from './stuck.js'

const signal = new AbortController().signal
const expiry = 1_700_000_300
const here: RereadBurn = async (_, burn) => ({ burn, depth: 3 })

/** Ways in which a transfer that was found is not on the chain of now. */
const gone: [string, RereadBurn][] = [
  ['is gone', async () => undefined],
  ['was mined again elsewhere', async (_, burn) => ({ burn: { ...burn, blockHash: hashOf(9) }, depth: 3 })],
  ['is not deep any more', async (_, burn) => ({ burn, depth: 2 })],
]

function accounting(reread: RereadBurn = here, changes: Partial<AccountForDeps['ledger']> = {}) {
  const clock = stoppedClock(1_000 * (expiry + 60))
  // Two ledgers, because the ledger of most of these tests has forgotten what was issued.
  const { issued: store, ledger: issued } = createMemoryStore(clock, { foundPerAddressMax: 8 })
  const { ledger } = createMemoryStore(clock, { expiredRetentionSeconds: 600 })
  const events: string[] = []
  const reports: FlowEvent[] = []
  const accountFor = createAccountForTransfers({
    store,
    ledger: { ...ledger, ...changes },
    reread,
    depth: 3,
    clock,
    report(event) {
      events.push(event.event)
      reports.push(event)
    },
    dustBelow: 1000n,
    addressesPerRoundMax: 10,
  })
  async function found(address: number | Challenge, ...transfers: readonly FoundTransfer[]) {
    const challenge = typeof address === 'number' ? challengeOf(address) : address
    if (!(await issued.books.find(challenge.nonce))) await issued.issue(challenge)
    for (const transfer of transfers) await store.putTransfer(challenge.payTo, transfer, expiry)
  }
  return { clock, store, ledger, accountFor, found, events, reports }
}

const transferOf = (leaf: number, value = 1000n): FoundTransfer => ({
  ...burnOf(10 * leaf),
  leafIndex: BigInt(leaf),
  value: units(value),
  minedAt: seconds(expiry - 10),
})

describe('accounting for transfers', () => {
  it.each(gone)('puts nothing on record that %s on the chain of now, and looks again', async (_, isGone) => {
    let reread = isGone
    const { clock, ledger, accountFor, found } = accounting((...args) => reread(...args))
    await found(1, transferOf(1))
    expect(await accountFor.round(signal)).toEqual([])
    expect(await ledger.books.find(nonceOf(1))).toBeUndefined()
    reread = here
    clock.advance(60_000)
    await accountFor.round(signal)
    expect((await ledger.books.find(nonceOf(1)))?.late?.burn.txHash).toBe(hashOf(10))
  })

  it.each(gone)(
    'accepts no presented transfer that %s on the chain of now, and looks again',
    async (_, isGone) => {
      let reread = isGone
      const { clock, ledger, accountFor, found, events } = accounting((...args) => reread(...args))
      await ledger.issue(challengeOf(1))
      await ledger.claim(nonceOf(1), selfTransferOf(challengeOf(1), 10))
      await found(1, transferOf(1))
      await accountFor.round(signal)
      expect((await ledger.find(nonceOf(1)))?.accepted).toBeUndefined()
      reread = here
      clock.advance(60_000)
      await accountFor.round(signal)
      expect((await ledger.find(nonceOf(1)))?.accepted?.burn.txHash).toBe(hashOf(10))
      expect(events).toEqual(['payment.accepted'])
    },
  )

  it('tells and counts the fee of a payment that it accepts, like any other', async () => {
    const { ledger, accountFor, found, reports } = accounting()
    const fee = { amount: units(25n), bps: 250, chargeTo: 'payer' as const }
    const challenge = challengeOf(1, { fee })
    await ledger.issue(challenge)
    await ledger.claim(nonceOf(1), selfTransferOf(challenge, 10))
    await found(challenge, transferOf(1))
    await accountFor.round(signal)
    expect(reports).toEqual([
      {
        event: 'payment.accepted',
        challengeNonce: nonceOf(1),
        txHash: hashOf(10),
        amount: expect.any(BigInt),
        fee: 25n,
      },
    ])
    expect((await ledger.books.figures()).fees).toBe(25n)
  })

  it('tells of no payment that the ledger did not accept, and looks at it again', async () => {
    let outcome: 'not_claimed' | 'accepted' = 'not_claimed'
    const { clock, ledger, accountFor, found, events } = accounting(here, { accept: async () => outcome })
    await ledger.issue(challengeOf(1))
    await ledger.claim(nonceOf(1), selfTransferOf(challengeOf(1), 10))
    await found(1, transferOf(1))
    await accountFor.round(signal)
    expect(events).toEqual([])
    outcome = 'accepted'
    await accountFor.round(signal)
    expect(events).toEqual([])
    clock.advance(60_000)
    await accountFor.round(signal)
    expect(events).toEqual(['payment.accepted'])
  })

  it('puts another transfer in the place of a late one only when the chain lost that one and holds the other', async () => {
    const [late, other] = [transferOf(1), transferOf(2)]
    const onChain = new Set([late.txHash])
    const { store, ledger, accountFor, found } = accounting(async (_, burn) =>
      onChain.has(burn.txHash) ? { burn, depth: 3 } : undefined,
    )
    const lateNow = async () => (await ledger.books.find(nonceOf(1)))?.late?.burn.txHash
    await found(1, late)
    await accountFor.round(signal)
    await store.dropTransfers(addressOf(1))
    for (const isThere of [[late, other], [], [other]]) {
      expect(await lateNow()).toBe(late.txHash)
      onChain.clear()
      for (const { txHash } of isThere) onChain.add(txHash)
      await found(1, other)
      await accountFor.round(signal)
    }
    expect(await lateNow()).toBe(other.txHash)
  })

  it('lets another transfer pay for a burn that a reorg took, also when it was found before the payment was demoted', async () => {
    const [lost, other] = [transferOf(1), transferOf(2)]
    const { clock, store, ledger, accountFor, found } = accounting(async (_, burn) =>
      burn.txHash === other.txHash ? { burn, depth: 3 } : undefined,
    )
    await ledger.issue(challengeOf(1))
    await ledger.claim(nonceOf(1), selfTransferOf(challengeOf(1), 10))
    await ledger.accept(nonceOf(1), burnIn(lost))
    await found(1, other)
    await accountFor.round(signal)
    expect((await store.transfersTo(addressOf(1))).map(({ txHash }) => txHash)).toEqual([other.txHash])
    await ledger.demote(nonceOf(1))
    clock.advance(60_000)
    await accountFor.round(signal)
    expect((await ledger.books.find(nonceOf(1)))?.accepted?.burn.txHash).toBe(other.txHash)
  })

  it('gives the node a rest after some addresses that could not be looked at', async () => {
    const { accountFor, found } = accounting(() => Promise.reject(new Error('no receipt')))
    for (let address = 1; address <= 10; address++) await found(address, transferOf(address))
    expect(await accountFor.round(signal)).toHaveLength(8)
    expect(await accountFor.round(signal)).toHaveLength(2)
  })

  it('is not held up by an address that cannot be looked at', async () => {
    const { clock, ledger, accountFor, found } = accounting((challenge, burn) =>
      challenge.nonce === nonceOf(1) ? Promise.reject(new Error('no receipt')) : here(challenge, burn),
    )
    await found(1, transferOf(1))
    await found(2, transferOf(2))
    expect(await accountFor.round(signal)).toEqual([new Error('no receipt')])
    expect(await ledger.books.find(nonceOf(2))).toBeDefined()
    expect(await accountFor.round(signal)).toEqual([])
    clock.advance(60_000)
    expect(await accountFor.round(signal)).toHaveLength(1)
  })
})

describe('money that a single proof does not bring', () => {
  it('is shown, the newest first, until a batch counts it', async () => {
    const clock = stoppedClock(1_000 * (expiry + 60))
    const { issued: store, ledger } = createMemoryStore(clock)
    const stuck = createStuckTransfers({ store, clock })
    const both = [challengeOf(1), challengeOf(2, { expiresAt: seconds(expiry + 120) })] as const
    for (const challenge of both) await ledger.issue(challenge)
    await ledger.claim(nonceOf(1), selfTransferOf(challengeOf(1), 10))
    await ledger.accept(nonceOf(1), burnIn(transferOf(1)))
    for (const leaf of [1, 2]) await store.putTransfer(addressOf(1), transferOf(leaf), expiry)
    await store.putTransfer(addressOf(2), transferOf(3, 70n), expiry)
    const shown = async () =>
      (await stuck(9)).map(({ challengeNonce, stuck: left }) => [challengeNonce, left])
    // The other one may still be presented.
    expect(await shown()).toEqual([[nonceOf(1), 1000n]])
    clock.advance(120_000)
    const other = [nonceOf(2), 70n]
    expect(await shown()).toEqual([other, [nonceOf(1), 1000n]])
    expect(await stuck(1)).toMatchObject([{ payTo: addressOf(2) }])
    // A batch counted the payment before it was presented, and the other one, too.
    for (const [leaf, left] of [
      [1, [other, [nonceOf(1), 1000n]]],
      [2, [other]],
    ] as const) {
      await store.mark([{ challenge: challengeOf(1), burn: transferOf(leaf) }])
      expect(await shown()).toEqual(left)
    }
  })
})
