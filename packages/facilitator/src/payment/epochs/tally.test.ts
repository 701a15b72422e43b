import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BatchWorld, createBatchWorld } from '../../../test/batch-world.js'
import { burnOf, challengeOf, epochOfSecond, units } from '../../../test/challenges.js'
import type { Challenge } from '../records.js'
import { epochKey, epochOf } from './epoch.js'

const minuteMs = 60_000

const totalKey = (challenge: Challenge | undefined) => {
  const epoch = challenge && epochOf(challenge)
  return epoch ? epochKey(epoch) : ''
}
/** The count of the first sender before anything was forgotten. */
const countKey = (challenge: Challenge | undefined) => `0 ${totalKey(challenge)} a`

async function payMany(world: BatchWorld, values: readonly bigint[]): Promise<Challenge[]> {
  const challenges: Challenge[] = []
  for (const value of values) challenges.push(await world.pay(value))
  return challenges
}

describe('payments of an epoch', () => {
  it('gather until there are enough, and are minted by one proof, whose end is the root', async () => {
    const world = createBatchWorld()
    const [a, b] = await payMany(world, [5n, 7n])
    world.cover()
    expect(Object.values(await world.round())).toEqual(['gathering', 'gathering'])
    expect(a && world.finalize().waits.of(a.nonce)).toMatchObject({ reason: 'gathering' })
    const c = await world.pay(11n)
    world.others(3)
    world.cover()
    expect(Object.values(await world.round())).toEqual(['mined', 'mined', 'mined'])
    expect(world.world.counted.map(({ batch }) => [batch.start, batch.end, batch.leaves.length])).toEqual([
      [0n, 6n, 3],
    ])
    expect(world.total(c)).toBe(23n)
    expect(Object.values(await world.round())).toEqual(['finalized', 'finalized', 'finalized'])
    expect(b && (await world.ledger.books.find(b.nonce))?.finalized?.mint).toMatchObject({ value: 7n })
    expect(await world.round()).toEqual({})
  })

  it('wait no longer than they may, not even a lone one', async () => {
    const world = createBatchWorld()
    const lone = await world.pay(5n)
    world.cover()
    world.clock.advance(59 * minuteMs)
    expect(await world.round()).toEqual({ [lone.nonce]: 'gathering' })
    world.clock.advance(minuteMs)
    expect(await world.round()).toEqual({ [lone.nonce]: 'mined' })
  })

  it('are minted a random while after they are enough, and before the longest wait ends', async () => {
    const world = createBatchWorld({ jitterMs: 10 * minuteMs })
    world.world.chance = 0.5
    await payMany(world, [1n, 2n, 3n])
    world.cover()
    expect(Object.values(await world.round())).toEqual(['gathering', 'gathering', 'gathering'])
    world.clock.advance(5 * minuteMs)
    expect(Object.values(await world.round())).toEqual(['mined', 'mined', 'mined'])
    const lone = await world.pay(9n)
    world.cover()
    world.clock.advance(55 * minuteMs - 1)
    expect(await world.round()).toMatchObject({ [lone.nonce]: 'gathering' })
    world.clock.advance(1)
    expect(await world.round()).toMatchObject({ [lone.nonce]: 'mined' })
  })

  it('that an operator asks for are minted at once', async () => {
    const world = createBatchWorld()
    const lone = await world.pay(5n)
    world.cover()
    await world.round()
    await world.finalize().retry(lone.nonce)
    expect(await world.round()).toEqual({ [lone.nonce]: 'mined' })
  })

  it('more than one proof holds are minted by proofs that follow each other, without another wait', async () => {
    const world = createBatchWorld()
    const challenges = await payMany(world, [1n, 2n, 4n, 8n, 16n, 32n, 64n])
    world.others(1)
    world.cover()
    for (let i = 0; i < 4; i++) await world.round()
    expect(world.world.counted.map(({ batch }) => [batch.start, batch.leaves.length])).toEqual([
      [0n, 4],
      [4n, 3],
    ])
    for (const challenge of challenges) expect(await world.isFinalized(challenge)).toBe(true)
  })

  it('too few of which are left after a proof wait for company again', async () => {
    const world = createBatchWorld()
    const challenges = await payMany(world, [1n, 2n, 4n, 8n, 16n])
    world.others(3)
    world.cover()
    for (let i = 0; i < 4; i++) await world.round()
    expect(world.world.counted.map(({ batch }) => batch.leaves.length)).toEqual([4])
    world.clock.advance(60 * minuteMs)
    for (let i = 0; i < 3; i++) await world.round()
    expect(world.world.counted.map(({ batch }) => batch.leaves.length)).toEqual([4, 1])
    for (const challenge of challenges) expect(await world.isFinalized(challenge)).toBe(true)
  })

  it('of one account wait as long as they may: it is no company for itself, and neither is small change', async () => {
    const world = createBatchWorld({ floor: 5n })
    for (const value of [5n, 6n, 7n, 8n]) await world.pay(value, 60, 1)
    for (const value of [1n, 2n]) await world.pay(value)
    world.cover()
    expect(new Set(Object.values(await world.round()))).toEqual(new Set(['gathering']))
    world.clock.advance(60 * minuteMs)
    expect(Object.values(await world.round())).toContain('mined')
  })

  it('are not held up by transfers to their addresses that take the places of their company', async () => {
    const world = createBatchWorld({ floor: 5n })
    const first = await world.pay(5n)
    for (let i = 0; i < 3; i++) await world.payUnpresented(1n)
    const all = [first, ...(await payMany(world, [5n, 5n]))]
    world.cover()
    await world.round()
    expect(world.world.counted).toEqual([])
    for (let i = 0; i < 5; i++) {
      world.clock.advance(60 * minuteMs)
      await world.round()
    }
    for (const challenge of all) expect(await world.isFinalized(challenge)).toBe(true)
  })

  it('of which more wait than fit end where chance says, and keep that end until its proof is mined', async () => {
    const draws = [0, 0.9]
    const world = createBatchWorld({ chance: () => draws.shift() ?? 0, restMs: 0 })
    await payMany(world, [1n, 2n, 4n, 8n, 16n])
    world.others(9)
    world.cover()
    world.world.fails = 'unavailable'
    await world.round()
    await world.round()
    expect(world.world.counted.map(({ batch }) => [batch.end, batch.leaves.length])).toEqual([[3n, 3]])
  })

  it('of two epochs or two treasuries are never in one proof', async () => {
    const world = createBatchWorld({ least: 1 })
    await world.pay(1n, 60)
    await world.pay(2n, 120)
    world.cover()
    expect(Object.values(await world.round())).toEqual(['mined', 'mined'])
    expect(world.world.counted.map(({ batch }) => batch.epoch.start)).toEqual([60, 120])
  })

  it('wait for a root, for the search, and while the verifier is paused', async () => {
    const world = createBatchWorld({ least: 1 })
    const { nonce } = await world.pay(5n)
    expect(await world.round()).toEqual({ [nonce]: 'root_behind' })
    world.world.rootSize = 1
    expect(await world.round()).toEqual({ [nonce]: 'root_behind' })
    world.world.followed = 1
    world.world.isPaused = true
    expect(await world.round()).toEqual({ [nonce]: 'verifier_paused' })
    world.world.isPaused = false
    expect(await world.round()).toEqual({ [nonce]: 'mined' })
  })

  it('rest after a failure, which a restart does not forget, and are tried again', async () => {
    const world = createBatchWorld({ least: 1 })
    const { nonce } = await world.pay(5n)
    world.cover()
    world.world.fails = 'unfunded'
    expect(await world.round()).toEqual({ [nonce]: 'failed' })
    expect(world.finalize().waits.of(nonce)).toMatchObject({ reason: 'unfunded' })
    world.restart()
    expect(await world.round()).toEqual({ [nonce]: 'gathering' })
    world.clock.advance(minuteMs)
    expect(await world.round()).toEqual({ [nonce]: 'mined' })
    expect(world.events.filter(({ event }) => event === 'batch.failed')).toHaveLength(1)
  })

  it('are not sent again while a mint of their epoch is under way', async () => {
    const world = createBatchWorld({ least: 1 })
    const [a, b] = await payMany(world, [5n, 6n])
    world.cover()
    if (a) world.world.underWay.add(a.nonce)
    expect(Object.values(await world.round())).toEqual(['confirming', 'queued'])
    expect(world.world.counted).toEqual([])
    world.world.underWay.clear()
    await world.round()
    expect(b && world.total(b)).toBe(11n)
  })
})

describe('what a stranger sends to addresses of an epoch', () => {
  it('is in no sum: 2^i base units to the i-th address mark no payment', async () => {
    const world = createBatchWorld()
    const challenges = await payMany(world, [100n, 100n, 100n])
    for (const [i, challenge] of challenges.entries()) world.payAgain(challenge, 2n ** BigInt(i))
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    for (const challenge of challenges) expect(await world.isFinalized(challenge)).toBe(true)
    expect(world.world.totals.get(totalKey(challenges[0]))).toBe(300n)
  })

  it('is counted before its payer presents it where it can be nothing but the payment, and then once', async () => {
    const world = createBatchWorld({ least: 1 })
    await world.pay(5n)
    const burn = await world.payUnpresented(7n)
    world.payAgain(burn, 3n)
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    expect(world.total(burn)).toBe(12n)
    await world.present(burn)
    for (let i = 0; i < 3; i++) await world.round()
    expect(await world.isFinalized(burn)).toBe(true)
    expect(world.world.counted.map(({ batch }) => batch.start)).toEqual([0n])
  })

  it('stays counted, or uncounted, whatever pays later and whatever the operator sets', async () => {
    const world = createBatchWorld({ least: 1 })
    world.world.dustBelow = 10n
    world.restart()
    const first = await world.pay(100n)
    const [open, dusty] = [await world.offer(5n), await world.offer(50n)]
    world.payAgain(open, 20n)
    world.payAgain(dusty, 3n)
    world.cover()
    expect(await world.round()).toEqual({ [first.nonce]: 'mined' })
    // The payer's own transfer, before that mint is deep.
    world.payAgain(open, 5n)
    await world.present(open, 1)
    for (const dustBelow of [50n, 1n]) {
      world.world.dustBelow = dustBelow
      world.restart()
      const next = await world.pay(100n)
      world.cover()
      for (let i = 0; i < 3; i++) await world.round()
      expect(await world.isFinalized(next)).toBe(true)
    }
    expect([await world.isFinalized(first), await world.isFinalized(open)]).toEqual([true, true])
    expect(world.total(open)).toBe(325n)
    // Never from zero again: that would show the value of what was left out.
    expect(world.world.counted.filter(({ batch }) => batch.start === 0n)).toHaveLength(1)
  })
})

describe('somebody else who counts the same epoch', () => {
  it('is an alarm, and nothing is finalized by a mint that is larger than all our burns', async () => {
    const world = createBatchWorld({ least: 1 })
    const own = await world.pay(5n)
    world.cover()
    world.world.totals.set(totalKey(own), 9n)
    for (let i = 0; i < 3; i++) await world.round()
    expect(await world.isFinalized(own)).toBe(false)
    expect(world.finalize().waits.of(own.nonce)).toMatchObject({ reason: 'foreign_mint' })
    const alarms = () => world.events.filter(({ event }) => event === 'batch.foreign')
    expect(alarms()).toEqual([{ event: 'batch.foreign', epoch: 60, value: 4n }])
    await world.round()
    expect(alarms()).toHaveLength(1)
  })

  it('is told at the first look, also while our sum is the larger one', async () => {
    const world = createBatchWorld()
    const own = await world.pay(5n)
    world.cover()
    world.world.counts.set(`0 ${totalKey(own)} b`, { checkpoint: 1n, counted: 3n })
    await world.round()
    expect(world.events).toContainEqual({ event: 'batch.foreign', epoch: 60, value: 3n, submitter: 'b' })
  })

  it('is told at the start for an epoch whose addresses are given out, and of which nothing is paid yet', async () => {
    const world = createBatchWorld()
    const open = await world.payUnpresented(5n)
    world.world.counts.set(`0 ${totalKey(open)} b`, { checkpoint: 1n, counted: 3n })
    await world.round()
    await world.round()
    const alarms = world.events.filter(({ event }) => event === 'batch.foreign')
    expect(alarms).toEqual([{ event: 'batch.foreign', epoch: 60, value: 3n, submitter: 'b' }])
  })

  it('is no alarm when the count is of nothing, which anybody can prove', async () => {
    const world = createBatchWorld()
    const own = await world.pay(5n)
    world.cover()
    world.world.counts.set(`0 ${totalKey(own)} b`, { checkpoint: 1n, counted: 0n })
    await world.round()
    expect(world.events.filter(({ event }) => event === 'batch.foreign')).toEqual([])
  })

  it('is no alarm when it was an earlier account of ours, which counted the same burns', async () => {
    const world = createBatchWorld({ least: 1 })
    await payMany(world, [5n, 6n])
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    world.world.submitter = 'b'
    world.restart()
    const next = await world.pay(7n)
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    expect(await world.isFinalized(next)).toBe(true)
    expect(world.events.filter(({ event }) => event === 'batch.foreign')).toEqual([])
  })
})

describe('a payment whose record has the time of a wrong clock', () => {
  it('is counted and not only looked past', async () => {
    const world = createBatchWorld({ least: 1 })
    const twoDaysSeconds = 172_800
    const epoch = Math.floor(world.clock.now() / 1000) + twoDaysSeconds
    const early = await world.pay(5n, epoch)
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    const late = await world.pay(6n, epoch)
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    expect(world.total(late)).toBe(11n)
    expect([await world.isFinalized(early), await world.isFinalized(late)]).toEqual([true, true])
  })
})

describe('a count that our records do not explain', () => {
  it('is made again from zero when a burn was missed', async () => {
    const world = createBatchWorld({ least: 1 })
    world.world.followed = undefined
    const a = await world.pay(5n)
    world.cover()
    await world.round()
    await world.round()
    // Recorded only now, below the checkpoint.
    const challenge = challengeOf(9, { epoch: epochOfSecond(60) })
    const burn = { ...burnOf(9), leafIndex: 1n, value: units(3n) }
    await world.ledger.recordLate(challenge, burn, 'unpresented')
    world.world.transfers.splice(1, 0, { to: challenge.payTo, value: 3n })
    world.world.counts.set(countKey(a), { checkpoint: 2n, counted: 5n })
    const b = await world.pay(7n)
    world.cover()
    world.mine()
    await world.round()
    expect(world.world.counted.at(-1)?.batch.start).toBe(0n)
    expect(world.total(b)).toBe(15n)
  })

  it('is made again to its end, in as many proofs as it takes, however few payments the last one has', async () => {
    const world = createBatchWorld()
    const [first] = await payMany(world, [1n, 2n, 4n, 8n, 16n])
    world.others(3)
    world.cover()
    // One of the five was missed.
    world.world.counts.set(countKey(first), { checkpoint: 5n, counted: 30n })
    world.world.totals.set(totalKey(first), 30n)
    world.mine()
    for (let i = 0; i < 2; i++) await world.round()
    expect(world.world.counted.map(({ batch }) => [batch.start, batch.leaves.length])).toEqual([
      [0n, 4],
      [4n, 1],
    ])
    expect(first && world.total(first)).toBe(31n)
  })

  it('belongs to its sender: another account counts everything again, and mints only what is new', async () => {
    const world = createBatchWorld({ least: 1 })
    const first = await payMany(world, [5n, 6n, 7n, 8n, 9n])
    world.cover()
    for (let i = 0; i < 4; i++) await world.round()
    for (const challenge of first) expect(await world.isFinalized(challenge)).toBe(true)
    world.world.submitter = 'b'
    const next = await world.pay(10n)
    world.cover()
    for (let i = 0; i < 5; i++) await world.round()
    expect(await world.isFinalized(next)).toBe(true)
    expect(world.total(next)).toBe(45n)
  })

  it('after records were lost, goes on above it, and leaves what lies below to the operator', async () => {
    const world = createBatchWorld({ least: 1 })
    const early = await world.pay(5n)
    world.cover()
    // An earlier run counted this one and another, of which no record is left.
    world.world.counts.set(countKey(early), { checkpoint: 1n, counted: 9n })
    world.world.totals.set(totalKey(early), 9n)
    world.mine()
    expect(await world.round()).toEqual({ [early.nonce]: 'confirming' })
    expect(await world.round()).toEqual({ [early.nonce]: 'records_missing' })
    const late = await world.pay(7n)
    world.cover()
    for (let i = 0; i < 3; i++) await world.round()
    expect([await world.isFinalized(early), await world.isFinalized(late)]).toEqual([false, true])
    expect(world.total(late)).toBe(16n)
  })
})

type Turn =
  | { turn: 'pay' | 'send'; value: bigint; epoch: number }
  | { turn: 'again'; value: bigint; of: number }
  | { turn: 'others'; count: number }
  | { turn: 'round'; minutes: number }
  | { turn: 'present' | 'root' | 'follow' | 'restart' | 'fail' | 'pause' | 'sender' | 'forget' }

describe('in any order of payments, roots, restarts, failures and changes of the sender', () => {
  const turns: fc.Arbitrary<Turn> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        turn: fc.constantFrom('pay' as const, 'pay' as const, 'send' as const),
        value: fc.bigInt(1n, 50n),
        epoch: fc.constantFrom(60, 120),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ turn: fc.constant('again' as const), value: fc.bigInt(1n, 50n), of: fc.nat() }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ turn: fc.constant('others' as const), count: fc.integer({ min: 1, max: 12 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ turn: fc.constant('round' as const), minutes: fc.integer({ min: 0, max: 30 }) }),
    },
    {
      weight: 3,
      arbitrary: fc
        .constantFrom(...(['present', 'root', 'follow', 'restart', 'fail', 'pause'] as const))
        .map((turn) => ({ turn })),
    },
    { weight: 1, arbitrary: fc.constantFrom(...(['sender', 'forget'] as const)).map((turn) => ({ turn })) },
  )

  async function take(world: BatchWorld, given: Turn, paid: Challenge[], sent: Challenge[]): Promise<void> {
    const state = world.world
    switch (given.turn) {
      case 'pay':
        paid.push(await world.pay(given.value, given.epoch))
        return
      case 'send':
        sent.push(await world.payUnpresented(given.value, given.epoch))
        return
      case 'present': {
        const challenge = sent.shift()
        if (!challenge) return
        await world.present(challenge)
        paid.push(challenge)
        return
      }
      case 'again': {
        const challenge = paid[given.of % Math.max(1, paid.length)]
        if (challenge) world.payAgain(challenge, given.value)
        return
      }
      case 'others':
        return world.others(given.count)
      case 'round':
        world.clock.advance(given.minutes * minuteMs)
        await world.round()
        return
      case 'root':
        state.rootSize = state.transfers.length
        return
      case 'follow':
        state.followed = state.transfers.length
        return
      case 'restart':
        return world.restart()
      case 'fail':
        state.fails = 'unavailable'
        return
      case 'pause':
        state.isPaused = !state.isPaused
        return
      case 'sender':
        state.submitter += 'x'
        return
      case 'forget':
        state.generation += 1
    }
  }

  it('nothing is minted twice, nothing is left behind, and every payment is finalized', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turns, { minLength: 5, maxLength: 60 }), async (script) => {
        const world = createBatchWorld()
        const paid: Challenge[] = []
        const sent: Challenge[] = []
        const burned = (epoch: number) =>
          [...paid, ...sent].reduce((sum, one) => (one.epoch?.start === epoch ? sum + one.amount : sum), 0n)
        for (const given of script) {
          await take(world, given, paid, sent)
          for (const challenge of paid) {
            expect(world.total(challenge)).toBeLessThanOrEqual(burned(challenge.epoch?.start ?? 0))
          }
        }
        // In the end all is calm, and each epoch gets one more payment that takes the rest along.
        world.world.isPaused = false
        while (sent.length > 0) await take(world, { turn: 'present' }, paid, sent)
        paid.push(await world.pay(1n, 60), await world.pay(1n, 120))
        world.cover()
        for (let i = 0; i < 60; i++) {
          world.clock.advance(60 * minuteMs)
          await world.round()
        }
        for (const challenge of paid) {
          expect(await world.isFinalized(challenge)).toBe(true)
          expect(world.total(challenge)).toBe(burned(challenge.epoch?.start ?? 0))
        }
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 50) },
    )
  })
})
