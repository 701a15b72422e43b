import { Payload } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { movableClock, stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import { createMemoryStore, stepSettings, stores } from '../../../test/store.js'
import type { Ledger } from '../../payment/ledger-port.js'
import { leaseLost, ownLeases } from '../lease.js'
import { sql } from '../sql.js'
import { createGrants } from './grants.js'
import { createStoreLedger } from './ledger.js'

const start = 1_700_000_000_000
const setup = ({ openMax = 10, retention = 3600 } = {}) => {
  const clock = stoppedClock(start)
  const ledger = createMemoryLedger({ clock, openMax, expiredRetentionSeconds: retention })
  return { clock, ledger }
}

describe('issue', () => {
  it('never lets more than the cap be open', async () => {
    const { ledger } = setup({ openMax: 2 })
    const outcomes = await Promise.all([1, 2, 3].map((seed) => ledger.issue(challengeOf(seed))))
    expect(outcomes).toEqual(['issued', 'issued', 'limit'])
    expect((await ledger.books.figures()).open).toBe(2)
  })

  it('keeps for each seller the number that is its own, and leaves the rest to everybody', async () => {
    const openMax = 12
    const own = new Map([
      ['shop', 4],
      ['bakery', 2],
    ])
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('shop', 'bakery', 'unknown', undefined), { maxLength: 20 }),
        async (callers) => {
          const { ledger, close } = createMemoryStore(stoppedClock(start), { openMax, openOfSellers: own })
          const open = new Map<string | undefined, number>()
          const openOf = (caller?: string) => open.get(caller) ?? 0
          for (const [at, seller] of callers.entries()) {
            const all = [...open.values()].reduce((sum, count) => sum + count, 0)
            const keptFor = (name: string) => Math.max(0, (own.get(name) ?? 0) - openOf(name))
            const isOwn = seller !== undefined && keptFor(seller) > 0
            const outcome = await ledger.issue(challengeOf(at + 1, seller === undefined ? {} : { seller }))
            const isFree = all + keptFor('shop') + keptFor('bakery') < openMax
            expect(outcome).toBe(isOwn || isFree ? 'issued' : 'limit')
            if (outcome === 'issued') open.set(seller, openOf(seller) + 1)
          }
          await close()
        },
      ),
      { numRuns: Math.min(stores, 40) },
    )
  })

  it('gives one caller the whole cap where no seller is configured', async () => {
    const { ledger } = setup({ openMax: 5 })
    const outcomes: unknown[] = []
    for (let seed = 1; seed <= 6; seed++) outcomes.push(await ledger.issue(challengeOf(seed)))
    expect(outcomes).toEqual([...Array(5).fill('issued'), 'limit'])
  })

  it('refuses a nonce twice', async () => {
    const { ledger } = setup()
    await ledger.issue(challengeOf(1))
    await expect(ledger.issue(challengeOf(1))).rejects.toThrow('twice')
  })

  it('R-111 an expired challenge makes room, is found for the retention, and then forgotten', async () => {
    const { ledger, clock } = setup({ openMax: 1 })
    const challenge = challengeOf(1)
    await ledger.issue(challenge)
    clock.advance(300_000)
    expect(await ledger.issue(challengeOf(2))).toBe('issued')
    expect(await ledger.find(challenge.nonce)).toMatchObject({ challenge })
    clock.advance(3_599_999)
    expect(await ledger.find(challenge.nonce)).toBeDefined()
    clock.advance(1)
    expect(await ledger.find(challenge.nonce)).toBeUndefined()
    expect((await ledger.books.page({ limit: 1 })).payments).toEqual([])
  })

  it('R-111 a retention of 0 forgets at expiry, and a claim that comes then is told so', async () => {
    const { ledger, clock } = setup({ retention: 0 })
    const challenge = challengeOf(1)
    await ledger.issue(challenge)
    clock.advance(300_000)
    expect(await ledger.find(challenge.nonce)).toBeUndefined()
    expect(await ledger.claim(challenge.nonce, permitPayloadOf(challenge))).toBe('forgotten')
    await ledger.recordLate(challenge, burnOf(1), 'late')
    expect(await ledger.find(challenge.nonce)).toMatchObject({ challenge })
  })
})

describe('claim', () => {
  it('of concurrent claims on one challenge exactly one is claimed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 20 }), async (payers) => {
        const { ledger } = setup()
        const challenge = challengeOf(1)
        await ledger.issue(challenge)
        const payloads = payers.map((payer) => permitPayloadOf(challenge, { payer: addressOf(payer) }))
        const outcomes = await Promise.all(payloads.map((payload) => ledger.claim(challenge.nonce, payload)))
        expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1)
        const winner = payers[0]
        for (const [i, outcome] of outcomes.entries()) {
          if (i > 0) expect(outcome).toBe(payers[i] === winner ? 'same_payload' : 'other_payload')
        }
      }),
      { numRuns: stores },
    )
  })

  it('of concurrent claims with one permit nonce of one payer exactly one is claimed, until it ends', async () => {
    const { ledger } = setup()
    const challenges = [1, 2, 3].map((seed) => challengeOf(seed))
    for (const challenge of challenges) await ledger.issue(challenge)
    const [first, second, third] = challenges.map((challenge) => ({
      nonce: challenge.nonce,
      payload: permitPayloadOf(challenge) as Payload.Payload,
    }))
    if (!first || !second || !third) throw new Error('three challenges were issued')
    expect(await ledger.claim(first.nonce, first.payload)).toBe('claimed')
    expect(await ledger.claim(second.nonce, second.payload)).toBe('permit_nonce_in_use')
    await ledger.release(first.nonce)
    expect(await ledger.claim(second.nonce, second.payload)).toBe('claimed')
    await ledger.accept(second.nonce, burnOf(1))
    expect(await ledger.claim(third.nonce, third.payload)).toBe('claimed')
  })

  it('another nonce, or another payer, is nobody else’s business', async () => {
    const { ledger } = setup()
    const [one, two, three] = [challengeOf(1), challengeOf(2), challengeOf(3)]
    for (const challenge of [one, two, three]) await ledger.issue(challenge)
    expect(await ledger.claim(one.nonce, permitPayloadOf(one))).toBe('claimed')
    expect(await ledger.claim(two.nonce, permitPayloadOf(two, { nonce: 1n }))).toBe('claimed')
    expect(await ledger.claim(three.nonce, permitPayloadOf(three, { payer: addressOf(9) }))).toBe('claimed')
  })

  it('a claimed challenge no longer counts as open and is not swept; a released one is open again', async () => {
    const { ledger, clock } = setup({ openMax: 1 })
    const challenge = challengeOf(1)
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    expect((await ledger.books.figures()).open).toBe(0)
    clock.advance(100_000_000)
    expect(await ledger.find(challenge.nonce)).toMatchObject({ claim: {} })
    await ledger.release(challenge.nonce)
    expect(await ledger.find(challenge.nonce)).toBeUndefined()
  })

  it('a self-transfer is known under its own hash, a relayed burn under the one it was signed with', async () => {
    const { ledger } = setup()
    const [transferred, relayed] = [challengeOf(1), challengeOf(2)]
    for (const challenge of [transferred, relayed]) await ledger.issue(challenge)
    const payload = selfTransferOf(transferred, 77)
    await ledger.claim(transferred.nonce, payload)
    expect((await ledger.find(transferred.nonce))?.claim?.txHash).toBe(payload.burnTxHash)
    await ledger.claim(relayed.nonce, permitPayloadOf(relayed))
    expect((await ledger.find(relayed.nonce))?.claim?.txHash).toBeUndefined()
    await ledger.recordSigned({ txNonce: 0, hash: payload.burnTxHash, raw: '0x02', from: addressOf(0xb0) }, [
      relayed.nonce,
    ])
    expect((await ledger.find(relayed.nonce))?.claim?.txHash).toBe(payload.burnTxHash)
  })
})

describe('accept and grant', () => {
  const accepted = async () => {
    const { ledger, clock } = setup()
    const challenge = challengeOf(1)
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    expect(await ledger.accept(challenge.nonce, burnOf(1))).toBe('accepted')
    return { ledger, clock, nonce: challenge.nonce }
  }

  it('the first accepted burn stays', async () => {
    const { ledger, nonce } = await accepted()
    expect(await ledger.accept(nonce, burnOf(2))).toBe('already_accepted')
    expect((await ledger.find(nonce))?.accepted).toEqual({ burn: burnOf(1), at: seconds(1_700_000_000) })
  })

  it('an accepted payment is never swept', async () => {
    const { ledger, clock, nonce } = await accepted()
    clock.advance(10_000_000_000)
    await ledger.issue(challengeOf(2, { expiresAt: seconds(1_900_000_000) }))
    expect((await ledger.find(nonce))?.accepted).toBeDefined()
  })

  it('whatever callers do with it, at most one grant is ever used', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async (writes) => {
        const { ledger, nonce } = await accepted()
        let used = 0
        const callers = writes.map(async (written) => {
          const grant = await ledger.takeGrant(nonce, 1_000)
          if (typeof grant === 'string') return grant
          await Promise.resolve()
          if (!written) {
            await grant.giveBack()
            return 'gave back'
          }
          used += 1
          await grant.use()
          return 'granted'
        })
        const ends = await Promise.all(callers)
        const firstWritten = writes.indexOf(true)
        expect(used).toBe(firstWritten === -1 ? 0 : 1)
        expect((await ledger.find(nonce))?.granted).toBe(firstWritten !== -1)
        if (firstWritten !== -1) expect(ends.filter((end) => end === 'granted')).toHaveLength(1)
      }),
      { numRuns: stores },
    )
  })

  it('a used grant is seen at once, also while the disk takes its time', async () => {
    const { ledger, nonce } = await accepted()
    const change = () => new Promise<never>(() => undefined)
    const alone = { change, closed: new AbortController().signal, leases: ownLeases }
    const slow = createGrants(alone, movableClock(), ledger)
    const grant = await slow.termWith(change).takeGrant(nonce, 1_000)
    if (typeof grant === 'string') throw new Error('nobody used it')
    expect((await slow.find(nonce))?.granted).toBe(false)
    void grant.use()
    expect((await slow.find(nonce))?.granted).toBe(true)
  })

  it('grants that are used in one turn are one step, and what the disk refused is written with the next one', async () => {
    const asked: unknown[] = []
    let isRefused = true
    const change = async (_name: string, nonces: unknown) => {
      asked.push(nonces)
      if (isRefused) throw new Error('the disk is full')
    }
    const alone = { change: change as never, closed: new AbortController().signal, leases: ownLeases }
    const accepted = { burn: burnOf(1), at: seconds(1_700_000_000) }
    const find = async () => ({ challenge: challengeOf(1), accepted, granted: false })
    const grants = createGrants(alone, movableClock(), { find, presented: () => Promise.reject() })
    const { takeGrant } = grants.termWith(alone.change)
    const use = async (seed: number) => {
      const grant = await takeGrant(nonceOf(seed), 1_000)
      if (typeof grant === 'string') throw new Error(`the grant is ${grant}`)
      await grant.use()
    }
    const first = await Promise.allSettled([use(1), use(2), use(3)])
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await takeGrant(nonceOf(2), 1_000)).toBe('used')
    isRefused = false
    await Promise.all([use(4), use(5)])
    await use(6)
    expect(asked).toEqual([[1, 2, 3].map(nonceOf), [1, 2, 3, 4, 5].map(nonceOf), [nonceOf(6)]])
    expect((await grants.find(nonceOf(2)))?.granted).toBe(false)
  })

  it('an end of a grant that already ended changes nothing', async () => {
    const { ledger, nonce } = await accepted()
    const grant = await ledger.takeGrant(nonce, 1_000)
    if (typeof grant === 'string') throw new Error('nobody used it')
    await grant.use()
    await grant.giveBack()
    expect(await ledger.takeGrant(nonce, 1_000)).toBe('used')
  })

  it('that somebody holds is waited for no longer than the bound', async () => {
    const clock = movableClock()
    const { store } = createMemoryStore(clock)
    const ledger = createStoreLedger({ store, clock, settings: stepSettings })
    const challenge = { ...challengeOf(1), expiresAt: seconds(Math.floor(clock.now() / 1000) + 300) }
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await ledger.accept(challenge.nonce, burnOf(1))
    const held = await ledger.takeGrant(challenge.nonce, 10)
    expect(await ledger.takeGrant(challenge.nonce, 10)).toBe('held')
    if (typeof held === 'string') throw new Error('nobody held it')
    await held.giveBack()
    expect(await ledger.takeGrant(challenge.nonce, 10)).toHaveProperty('use')
  })
})

describe('grants where another daemon may take over', () => {
  const challenge = challengeOf(1)
  const { nonce } = challenge

  /** A payment that is claimed in a store that daemons share, and the clock by which grants are held. */
  async function shared() {
    let nowMs = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => now.mockRestore())
    const { store, ledger } = createMemoryStore(stoppedClock(start))
    await ledger.issue(challenge)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    /** A daemon that becomes the active one. Until `lose`, that is. */
    function takeOver(lasting = daemon()) {
      let isLost = false
      const change: typeof store.change = (...step) =>
        isLost ? Promise.reject(leaseLost()) : store.change(...step)
      const lose = () => {
        isLost = true
      }
      return { ...lasting.on({ ...store, change }), lose, takeOverAgain: () => takeOver(lasting) }
    }
    const daemon = () =>
      createStoreLedger({
        store: { ...store, leases: { ...ownLeases, holder: 'this daemon' } },
        // A wait for a grant is over at once, and no other one ever is.
        clock: { now: () => start, sleep: (ms) => new Promise<void>((end) => ms === 0 && end()) },
        settings: stepSettings,
      })
    const pass = (ms: number) => {
      nowMs += ms
    }
    return { takeOver, pass }
  }

  const granted = async (taking: ReturnType<Ledger['takeGrant']>) => {
    const grant = await taking
    if (typeof grant === 'string') throw new Error(`the grant is ${grant}`)
    return grant
  }

  it('are kept back for thirty seconds by whoever takes over: the daemon before may have answered', async () => {
    const { takeOver, pass } = await shared()
    const before = takeOver()
    await before.accept(nonce, burnOf(1))
    const answered = await granted(before.takeGrant(nonce, 0))
    before.lose()
    const next = takeOver()
    expect(await next.takeGrant(nonce, 0)).toBe('held')
    pass(14_999)
    expect(answered.isHeld()).toBe(true)
    pass(1)
    expect(answered.isHeld()).toBe(false)
    pass(14_999)
    expect(await next.takeGrant(nonce, 0)).toBe('held')
    pass(1)
    expect(await next.takeGrant(nonce, 0)).toHaveProperty('use')
  })

  it('that were answered are recorded under no lease, and nobody gives them again', async () => {
    const { takeOver, pass } = await shared()
    const before = takeOver()
    await before.accept(nonce, burnOf(1))
    const answered = await granted(before.takeGrant(nonce, 0))
    before.lose()
    const next = takeOver()
    expect(await next.takeGrant(nonce, 0)).toBe('held')
    await answered.use()
    expect(await next.takeGrant(nonce, 0)).toBe('used')
    pass(30_000)
    expect(await next.takeGrant(nonce, 0)).toBe('used')
  })

  it('are looked for under the lease: a daemon that lost it finds none', async () => {
    const { takeOver } = await shared()
    const before = takeOver()
    await before.accept(nonce, burnOf(1))
    before.lose()
    await expect(before.takeGrant(nonce, 0)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await before.takeOverAgain().takeGrant(nonce, 0)).toBe('held')
  })

  it('of payments that it accepts itself are given at once, but not of those that a reorg took before', async () => {
    const { takeOver } = await shared()
    const before = takeOver()
    const next = takeOver()
    expect(await next.accept(nonce, burnOf(1))).toBe('accepted')
    await (await granted(next.takeGrant(nonce, 0))).giveBack()
    await granted(next.takeGrant(nonce, 0))
    before.lose()
    const last = takeOver()
    await last.demote(nonce)
    expect(await last.accept(nonce, burnOf(1))).toBe('accepted')
    expect(await last.takeGrant(nonce, 0)).toBe('held')
  })
})

it('a claim is released only by whoever is sure of its payload', async () => {
  const { ledger } = setup()
  const challenge = challengeOf(1)
  const { nonce } = challenge
  await ledger.issue(challenge)
  await ledger.claim(nonce, selfTransferOf(challenge, 5))
  const permit = Payload.identity(permitPayloadOf(challenge))
  expect(await ledger.release(nonce, undefined, { identity: permit })).toBe('kept')
  const transfer = Payload.identity(selfTransferOf(challenge, 5))
  expect(await ledger.release(nonce, undefined, { identity: transfer })).toBe('released')
})

it('a payment that came too late, as its payer was told, is claimed by no request that was held up', async () => {
  const { ledger } = setup()
  const challenge = challengeOf(1)
  await ledger.issue(challenge)
  await ledger.recordLate(challenge, burnOf(5), 'late')
  expect(await ledger.claim(challenge.nonce, selfTransferOf(challenge, 5))).toBe('forgotten')
  // But what a request in time has claimed stays claimed, whatever another request was told meanwhile.
  const held = challengeOf(3)
  await ledger.issue(held)
  await ledger.claim(held.nonce, selfTransferOf(held, 8))
  expect(await ledger.recordLate(held, burnOf(8), 'late')).toBe('claimed')
  expect(await ledger.claim(held.nonce, selfTransferOf(held, 8))).toBe('same_payload')
  expect(await ledger.accept(held.nonce, burnOf(8))).toBe('accepted')
  expect((await ledger.find(held.nonce))?.late).toBeUndefined()
  // A burn that is found before the challenge expires takes nothing from its payer.
  const open = challengeOf(2)
  await ledger.issue(open)
  await ledger.recordLate(open, { ...burnOf(6), value: units(1n) }, 'underpaid')
  expect(await ledger.claim(open.nonce, selfTransferOf(open, 7))).toBe('claimed')
})

describe('a transaction whose record was answered with a failure', () => {
  const challenge = challengeOf(1)
  const { nonce } = challenge
  const transaction = { txNonce: 0, hash: hashOf(9), raw: '0x09', from: addressOf(0xb0) } as const
  const lost = { reason: 'storage_unavailable', message: 'the answer was lost' } as const

  it('keeps its claim when it is recorded all the same, and frees it when it is not', async () => {
    const { ledger } = setup()
    await ledger.issue(challenge)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.recordSigned(transaction, [nonce])
    expect(await ledger.release(nonce, lost, { unsigned: true })).toBe('kept')
    expect(await ledger.release(nonce, { ...lost, reason: 'burn_failed' })).toBe('released')
    await ledger.claim(nonce, permitPayloadOf(challenge))
    expect(await ledger.release(nonce, lost, { unsigned: true })).toBe('released')
  })

  it('is forgotten when another call takes its txNonce, because its sender never sent it', async () => {
    const { ledger } = setup()
    const minted = challengeOf(2)
    await ledger.issue(challenge)
    await ledger.issue(minted)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.claim(minted.nonce, selfTransferOf(minted, 5))
    await ledger.accept(minted.nonce, burnOf(5))
    await ledger.recordSigned(transaction, [nonce])
    await ledger.recordMintSigned({ ...transaction, hash: hashOf(8), raw: '0x08' }, [minted.nonce])
    const { transactions, unsigned, mints } = await ledger.interrupted()
    expect([transactions, mints.length]).toEqual([[], 1])
    expect(unsigned.map((claim) => claim.challenge.nonce)).toEqual([nonce])
    // An empty call under the same txNonce leaves the mint, which may still be mined.
    await ledger.recordSigned({ ...transaction, hash: hashOf(4), raw: '0x04' }, [])
    expect((await ledger.interrupted()).mints).toHaveLength(1)
    // Another burn, and then the same one at a higher price.
    const other = challengeOf(3)
    await ledger.issue(other)
    await ledger.claim(other.nonce, permitPayloadOf(other, { payer: addressOf(0xfb) }))
    const next = { txNonce: 1, hash: hashOf(7), raw: '0x07', from: addressOf(0xb0) } as const
    await ledger.recordSigned(next, [nonce])
    await ledger.recordSigned({ ...next, hash: hashOf(6), raw: '0x06' }, [other.nonce])
    const raised = { ...next, isReplacement: true } as const
    await ledger.recordSigned({ ...raised, hash: hashOf(5), raw: '0x05' }, [other.nonce])
    const [burn] = (await ledger.interrupted()).transactions
    expect(burn?.transactions.map(({ raw }) => raw)).toEqual(['0x06', '0x05'])
    expect(burn?.items.map((item) => item.challenge.nonce)).toEqual([other.nonce])
    // Another batch is another call, also when it carries one of the same burns.
    await ledger.recordSigned({ ...next, hash: hashOf(3), raw: '0x03' }, [nonce, other.nonce])
    const [batch] = (await ledger.interrupted()).transactions
    expect(batch?.transactions.map(({ raw }) => raw)).toEqual(['0x03'])
    expect(batch?.items).toHaveLength(2)
  })

  it('is not recorded for a burn that nobody claims any more', async () => {
    const { ledger } = setup()
    await ledger.issue(challenge)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.release(nonce)
    await expect(ledger.recordSigned(transaction, [nonce])).rejects.toMatchObject({ code: 'lease_lost' })
    // Nor for a batch with such a burn, unless the batch is out already and only its price is raised.
    const other = challengeOf(2)
    await ledger.issue(other)
    await ledger.claim(other.nonce, permitPayloadOf(other, { payer: addressOf(0xfb) }))
    const both = [nonce, other.nonce]
    await expect(ledger.recordSigned(transaction, both)).rejects.toMatchObject({ code: 'lease_lost' })
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.recordSigned(transaction, both)
    await ledger.release(nonce)
    const raised = { ...transaction, hash: hashOf(8), raw: '0x08', isReplacement: true } as const
    await ledger.recordSigned(raised, both)
    const [burn] = (await ledger.interrupted()).transactions
    expect(burn?.items.map((item) => item.challenge.nonce)).toEqual([other.nonce])
  })
})

it('the signed bytes of an accepted burn are kept until one some blocks higher is accepted', async () => {
  const { ledger, store } = createMemoryStore(stoppedClock())
  const burn = async (seed: number, blockNumber: bigint) => {
    const claimed = challengeOf(seed)
    await ledger.issue(claimed)
    await ledger.claim(claimed.nonce, permitPayloadOf(claimed, { payer: addressOf(seed) }))
    const signed = { txNonce: seed, hash: hashOf(seed), raw: '0x09', from: addressOf(0xb0) } as const
    await ledger.recordSigned(signed, [claimed.nonce])
    await ledger.accept(claimed.nonce, { ...burnOf(seed), blockNumber })
  }
  const kept = async () => (await ledger.interrupted()).shallow.map(({ block }) => block.blockNumber)
  const rows = () =>
    store.ask(
      (function* () {
        const ofSlots = yield sql`SELECT 1 FROM signed JOIN carried ON carried.slot = signed.slot`
        return [
          ofSlots.length,
          (yield sql`SELECT 1 FROM signed`).length,
          (yield sql`SELECT 1 FROM permit`).length,
        ]
      })(),
    )
  await burn(1, 10n)
  await burn(2, 21n)
  await burn(3, 21n)
  expect([await kept(), await rows()]).toEqual([
    [10n, 21n, 21n],
    [3, 3, 3],
  ])
  await burn(4, 22n)
  expect([await kept(), await rows()]).toEqual([
    [21n, 21n, 22n],
    [3, 3, 3],
  ])
  await burn(5, 40n)
  expect([await kept(), await rows()]).toEqual([[40n], [1, 1, 1]])
})
