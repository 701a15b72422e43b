import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { burnOf, challengeOf, hashOf, nonceOf, permitPayloadOf, units } from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import { createMintSchedule } from '../../store/adapters/schedule.js'
import type { MintOutcome } from '../ports.js'
import type { Burn, Mint } from '../records.js'
import type { FlowEvent } from '../report.js'
import { createFinalize, type FinalizeDeps } from './finalize.js'
import type { MintState, ProvedRoot } from './ports.js'

const periodMs = 15_000
const never = new AbortController().signal
const mintOf = (nonce: ChallengeNonce): Mint => ({
  txHash: hashOf(Number(BigInt(nonce)) + 900),
  blockNumber: 12n,
  value: units(1000n),
})

const oneAtATime = {
  paymentsPerRoundMax: 48,
  burnsPerRoundMax: 48,
  mintsPerRoundMax: 16,
  attemptsInFlightMax: 1,
  mintReadsMax: 3,
  mintWaitMs: 60_000,
  rootPatienceMs: 600_000,
}

/** The payments of these tests have a proof each. */
const noBatches: FinalizeDeps['batches'] = {
  counts: async () => [],
  foreignCounts: async () => [],
  mark: async () => undefined,
  dustBelow: 0n,
  findCounts: async () => [],
  prove: () => Promise.reject(new Error('nothing is minted in batches here')),
  found: async () => [],
  followedLeaves: async () => undefined,
  fits: () => 0,
  rangeOf: (_, limit) => ({ count: 0, end: limit }),
  pace: { least: 1, floor: 0n, waitMaxMs: 0, jitterMs: 0 },
}

/** A scripted chain and prover around a real ledger: what they say is set by each test. */
function setup({
  delayMs = () => 0,
  ...changes
}: Partial<FinalizeDeps> & { readonly delayMs?: () => number } = {}) {
  const clock = stoppedClock()
  const { ledger, store } = createMemoryStore(clock)
  const events: FlowEvent[] = []
  const world = {
    root: { size: 10n, root: 1n, isPaused: false } as ProvedRoot,
    states: new Map<ChallengeNonce, MintState>(),
    /** Burns that are elsewhere than the ledger thinks, or in no block. */
    burns: new Map<ChallengeNonce, { burn: Burn; depth: number } | undefined>(),
    underWay: new Set<ChallengeNonce>(),
    findMint: (nonce: ChallengeNonce): Mint | undefined => mintOf(nonce),
    outcome: (nonce: ChallengeNonce): MintOutcome | Promise<MintOutcome> => {
      world.states.set(nonce, 'shallow')
      return { kind: 'mined', txHash: hashOf(900) }
    },
    prove: async (_signal: AbortSignal): Promise<void> => undefined,
    proved: [] as ChallengeNonce[],
    sent: [] as ChallengeNonce[],
    /** Blocks come in time, unless a test says otherwise. */
    sleep: (_ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (signal?.aborted) resolve()
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  const finalize = createFinalize({
    ledger,
    verifier: {
      latestRoot: async () => world.root,
      mintStates: async (payments) =>
        payments.map(({ challenge }) => world.states.get(challenge.nonce) ?? 'due'),
      findMint: async ({ challenge }) => world.findMint(challenge.nonce),
    },
    reread: async ({ nonce }, burn) => (world.burns.has(nonce) ? world.burns.get(nonce) : { burn, depth: 9 }),
    async prove({ challenge }, _root, signal) {
      await world.prove(signal)
      world.proved.push(challenge.nonce)
      return { to: challenge.payTo, data: '0x', gas: 1n, nonces: [challenge.nonce] }
    },
    minter: {
      async mint({ nonces }) {
        const [nonce = nonceOf(0)] = nonces
        world.sent.push(nonce)
        return world.outcome(nonce)
      },
      isUnderWay: (nonce) => world.underWay.has(nonce),
    },
    clock: { ...clock, sleep: (ms, signal) => world.sleep(ms, signal) },
    report: (event) => events.push(event),
    schedule: createMintSchedule({
      store,
      clock,
      delayMs,
      chance: () => 0,
      retryMs: { first: periodMs, max: 10 * periodMs },
    }),
    shuffle: (items) => items,
    batches: noBatches,
    burnConfirmations: 1,
    limits: { ...oneAtATime, attemptsInFlightMax: 3 },
    ...changes,
  })

  async function accepted(seed: number, leafIndex = 0n): Promise<ChallengeNonce> {
    const challenge = challengeOf(seed)
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
    await ledger.accept(challenge.nonce, { ...burnOf(seed), leafIndex })
    return challenge.nonce
  }
  const named = (name: FlowEvent['event']) => events.filter(({ event }) => event === name)
  return {
    ...world,
    world,
    clock,
    ledger,
    events,
    named,
    finalize,
    accepted,
    round: async () => Object.fromEntries(await finalize.round(never)),
  }
}

describe('a round of finalization', () => {
  it('R-114 proves and mints an accepted payment, and it is finalized once the mint is deep enough', async () => {
    const { accepted, round, world, ledger, named } = setup()
    const nonce = await accepted(1)
    expect(await round()).toEqual({ [nonce]: 'mined' })
    expect((await ledger.books.find(nonce))?.finalized).toBeUndefined()
    expect(await round()).toEqual({ [nonce]: 'confirming' })
    world.states.set(nonce, 'minted')
    expect(await round()).toEqual({ [nonce]: 'finalized' })
    expect((await ledger.books.find(nonce))?.finalized?.mint).toEqual(mintOf(nonce))
    expect(named('payment.finalized')).toHaveLength(1)
    expect([world.proved, world.sent]).toEqual([[nonce], [nonce]])
    expect(await round()).toEqual({})
  })

  it('does not wait for a block that does not come, sends nothing twice, and hears how the mint ended', async () => {
    const { accepted, round, world, named } = setup()
    const nonce = await accepted(1)
    const waits: number[] = []
    let end: (outcome: MintOutcome) => void = () => undefined
    world.sleep = async (ms) => void waits.push(ms)
    world.outcome = () => {
      world.underWay.add(nonce)
      return new Promise((resolve) => {
        end = resolve
      })
    }
    expect(await round()).toEqual({ [nonce]: 'confirming' })
    expect(await round()).toEqual({ [nonce]: 'confirming' })
    expect([waits, world.sent]).toEqual([[60_000], [nonce]])
    world.underWay.delete(nonce)
    end({ kind: 'failed', why: 'displaced' })
    await until(() => named('mint.failed').length > 0)
    expect(named('mint.failed')).toMatchObject([{ reason: 'displaced' }])
    // Its back-off began.
    expect(await round()).toEqual({})
  })

  it('finalizes the burn that was minted, and not a larger one that was found meanwhile', async () => {
    const { ledger, round, world, named } = setup()
    const { nonce } = challengeOf(1)
    const [small, large] = [3n, 7n].map((value, i) => ({ ...burnOf(i + 1), value: units(value) })) as [
      Burn,
      Burn,
    ]
    await ledger.recordLate(challengeOf(1), small, 'late')
    world.states.set(nonce, 'minted')
    world.findMint = () => {
      void ledger.recordLate(challengeOf(1), large, 'unrecorded')
      return mintOf(nonce)
    }
    expect(await round()).toEqual({})
    expect(named('payment.finalized')).toEqual([])
    world.states.set(nonce, 'due')
    expect(await round()).toEqual({ [nonce]: 'mined' })
    world.states.set(nonce, 'minted')
    expect(await round()).toEqual({ [nonce]: 'finalized' })
    expect(await ledger.books.find(nonce)).toMatchObject({ late: { burn: large }, finalized: {} })
  })

  it('mints a burn that came too late to buy anything', async () => {
    const { ledger, round, world } = setup()
    await ledger.recordLate(challengeOf(3), burnOf(3), 'late')
    expect(await round()).toEqual({ [nonceOf(3)]: 'mined' })
    world.states.set(nonceOf(3), 'minted')
    expect(await round()).toEqual({ [nonceOf(3)]: 'finalized' })
  })

  it('records what somebody else minted, and proves nothing for it', async () => {
    const { accepted, round, world } = setup()
    const nonce = await accepted(1)
    world.states.set(nonce, 'minted')
    expect(await round()).toEqual({ [nonce]: 'finalized' })
    expect(world.proved).toEqual([])
  })

  it('waits for a root that covers the burn, and for the verifier, whose pause it tells once', async () => {
    const { accepted, round, world, named } = setup()
    const covered = await accepted(1, 9n)
    const beyond = await accepted(2, 10n)
    world.root = { ...world.root, isPaused: true }
    expect(await round()).toEqual({ [covered]: 'verifier_paused', [beyond]: 'verifier_paused' })
    await round()
    expect(named('finalize.waiting')).toHaveLength(1)
    world.root = { ...world.root, isPaused: false }
    expect(await round()).toEqual({ [covered]: 'mined', [beyond]: 'root_behind' })
    world.root = { ...world.root, isPaused: true }
    await round()
    expect(named('finalize.waiting')).toHaveLength(2)
    expect(world.proved).toEqual([covered])
  })

  it('does not prove what an earlier run has sent and not seen the end of', async () => {
    const { accepted, round, world } = setup()
    const nonce = await accepted(1)
    world.underWay.add(nonce)
    expect(await round()).toEqual({ [nonce]: 'confirming' })
    // That one was displaced: nothing is under way and nothing is minted.
    world.underWay.clear()
    expect(await round()).toEqual({ [nonce]: 'mined' })
    expect(world.sent).toEqual([nonce])
  })

  it('records mints before it proves others, and leaves proofs beyond its share to the next round', async () => {
    const { accepted, round, world, events } = setup({
      limits: { ...oneAtATime, mintsPerRoundMax: 1 },
    })
    const nonces = [await accepted(1), await accepted(2), await accepted(3)]
    world.states.set(nonceOf(3), 'minted')
    expect(await round()).toEqual({ [nonceOf(3)]: 'finalized', [nonceOf(1)]: 'mined' })
    expect(events[0]?.event).toBe('payment.finalized')
    expect(await round()).toEqual({ [nonceOf(1)]: 'confirming', [nonceOf(2)]: 'mined' })
    expect(world.sent).toEqual(nonces.slice(0, 2))
  })

  it('mints in the order it is told, not in that of the burns, and what a root covers before what waits', async () => {
    const { accepted, round, world } = setup({ shuffle: (items) => items.toReversed(), limits: oneAtATime })
    const nonces = [await accepted(1, 1n), await accepted(2, 2n), await accepted(3, 3n)]
    world.root = { ...world.root, size: 3n }
    await round()
    expect(world.sent).toEqual([nonces[1], nonces[0]])
  })

  it('tells how many waiting burns could explain each mint: those of its amount under the root', async () => {
    const { accepted, round, world, named } = setup()
    for (const [seed, leaf] of [
      [1, 1n],
      [2, 2n],
      [3, 3n],
    ] as const)
      await accepted(seed, leaf)
    world.root = { ...world.root, size: 3n }
    await round()
    expect(named('mint.proving')).toMatchObject([{ company: 2 }, { company: 2 }])
  })

  it('reads no more burns again in one round than its share', async () => {
    const reread: ChallengeNonce[] = []
    const { accepted, round, world } = setup({
      limits: { ...oneAtATime, burnsPerRoundMax: 2 },
      async reread({ nonce }, burn) {
        reread.push(nonce)
        return { burn, depth: 9 }
      },
    })
    for (const seed of [1, 2, 3]) await accepted(seed)
    world.root = { ...world.root, size: 0n }
    expect(Object.values(await round())).toEqual(['root_behind', 'root_behind'])
    expect(reread).toHaveLength(2)
  })

  it('holds a mint back for as long as it was told when the burn was first seen', async () => {
    const { accepted, round, clock } = setup({ delayMs: () => 60_000 })
    const nonce = await accepted(1)
    expect(await round()).toEqual({})
    clock.advance(59_999)
    expect(await round()).toEqual({})
    clock.advance(1)
    expect(await round()).toEqual({ [nonce]: 'mined' })
  })
})

describe('a reorg', () => {
  it('fault 9: that takes an accepted burn away demotes the payment; nothing is minted until it is back', async () => {
    const { accepted, round, world, ledger, named, clock } = setup()
    const nonce = await accepted(1)
    world.burns.set(nonce, undefined)
    expect(await round()).toEqual({ [nonce]: 'burn_lost' })
    expect(named('burn.reorged')).toHaveLength(1)
    expect((await ledger.find(nonce))?.accepted).toBeUndefined()
    clock.advance(periodMs)
    expect(await round()).toEqual({})
    expect(world.proved).toEqual([])

    const back = { ...burnOf(1), blockHash: hashOf(77), leafIndex: 4n }
    world.burns.set(nonce, { burn: back, depth: 1 })
    clock.advance(periodMs)
    expect(await round()).toEqual({ [nonce]: 'mined' })
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(back)
    expect(named('payment.returned')).toHaveLength(1)
  })

  it('that brought a burn back is not believed before the burn is as deep as accepted asks', async () => {
    const { accepted, round, world, clock, ledger } = setup({ burnConfirmations: 3 })
    const nonce = await accepted(1)
    world.burns.set(nonce, undefined)
    await round()
    world.burns.set(nonce, { burn: burnOf(1), depth: 2 })
    clock.advance(periodMs)
    expect(await round()).toEqual({})
    world.burns.set(nonce, { burn: burnOf(1), depth: 3 })
    clock.advance(2 * periodMs)
    expect(await round()).toEqual({ [nonce]: 'mined' })
    expect((await ledger.find(nonce))?.accepted).toBeDefined()
  })

  it('is noticed while the burn waits for its root or for the verifier, too', async () => {
    const { accepted, round, world } = setup()
    const nonce = await accepted(1, 99n)
    world.root = { ...world.root, isPaused: true }
    world.burns.set(nonce, undefined)
    expect(await round()).toEqual({ [nonce]: 'burn_lost' })
  })

  it.each(['accepted', 'late'] as const)(
    'that moved an %s burn has it minted at its new leaf',
    async (kind) => {
      const { accepted, round, world, ledger } = setup()
      if (kind === 'accepted') await accepted(1)
      else await ledger.recordLate(challengeOf(1), burnOf(1), 'late')
      const moved = { ...burnOf(1), blockHash: hashOf(77), leafIndex: 4n }
      world.burns.set(nonceOf(1), { burn: moved, depth: 1 })
      expect(await round()).toEqual({ [nonceOf(1)]: 'mined' })
      const recorded = await ledger.books.find(nonceOf(1))
      expect(recorded?.accepted?.burn ?? recorded?.late?.burn).toEqual(moved)
    },
  )

  it('that took a late burn away has it looked for again, later each time, and never minted', async () => {
    const { round, world, ledger, clock, named } = setup()
    await ledger.recordLate(challengeOf(1), burnOf(1), 'late')
    world.burns.set(nonceOf(1), undefined)
    expect(await round()).toEqual({ [nonceOf(1)]: 'burn_lost' })
    expect(await round()).toEqual({})
    clock.advance(periodMs)
    expect(await round()).toEqual({ [nonceOf(1)]: 'burn_lost' })
    clock.advance(periodMs)
    expect(await round()).toEqual({})
    expect(named('mint.failed')).toMatchObject([{ reason: 'burn_lost' }, { reason: 'burn_lost' }])
    expect(world.proved).toEqual([])
  })

  it('fault 10: under a mint has it proved and sent again', async () => {
    const { accepted, round, world } = setup()
    const nonce = await accepted(1)
    expect(await round()).toEqual({ [nonce]: 'mined' })
    world.states.set(nonce, 'due')
    expect(await round()).toEqual({ [nonce]: 'mined' })
    expect(world.sent).toEqual([nonce, nonce])
  })
})

describe('what fails', () => {
  it('R-070 is tried again exponentially later, at most ten periods, unless an operator asks', async () => {
    const { accepted, round, world, clock, finalize } = setup()
    const nonce = await accepted(1)
    world.prove = async () => {
      throw new Error('prover crashed')
    }
    const pauses: number[] = []
    for (let tries = 0; tries < 7; tries++) {
      expect(await round()).toEqual({ [nonce]: 'failed' })
      let waited = 0
      while (!(await isDue())) {
        clock.advance(periodMs)
        waited += 1
      }
      pauses.push(waited)
    }
    expect(pauses).toEqual([1, 2, 4, 8, 10, 10, 10])
    expect(await round()).toEqual({ [nonce]: 'failed' })
    expect(await round()).toEqual({})
    await finalize.retry(nonce)
    expect(await round()).toEqual({ [nonce]: 'failed' })

    /** A round that was cut off beforehand tries nothing, but says whose turn it is. */
    async function isDue(): Promise<boolean> {
      return (await finalize.round(AbortSignal.abort())).has(nonce)
    }
  })

  it('does not keep others from their mints', async () => {
    const { accepted, round, world, named, finalize } = setup()
    const [bad, good] = [await accepted(1), await accepted(2)]
    const { outcome } = world
    world.outcome = (nonce) => (nonce === bad ? { kind: 'failed', why: 'reverted' } : outcome(nonce))
    expect(await round()).toEqual({ [bad]: 'failed', [good]: 'mined' })
    expect(named('mint.failed')).toMatchObject([{ reason: 'reverted' }])
    expect(finalize.waits.of(bad)).toMatchObject({ reason: 'reverted' })
  })

  it('is no failure when the mint would revert because somebody was quicker', async () => {
    const { accepted, round, world, named } = setup()
    const nonce = await accepted(1)
    world.outcome = () => {
      world.states.set(nonce, 'shallow')
      return { kind: 'failed', why: 'would_revert' }
    }
    expect(await round()).toEqual({ [nonce]: 'confirming' })
    expect(named('mint.failed')).toEqual([])
  })

  it('leaves a mint without its transaction when the node shows none after three looks', async () => {
    const { accepted, round, world, clock, ledger } = setup()
    const nonce = await accepted(1)
    world.states.set(nonce, 'minted')
    const answers = [
      () => undefined,
      () => {
        throw new Error('logs are pruned')
      },
    ]
    world.findMint = () => answers.shift()?.()
    for (let looks = 0; looks < 2; looks++) {
      expect(await round()).toEqual({ [nonce]: 'failed' })
      clock.advance(10 * periodMs)
    }
    expect(await round()).toEqual({ [nonce]: 'finalized' })
    expect((await ledger.books.find(nonce))?.finalized?.mint).toEqual({ value: 1000n })
  })

  it('fails the round when the chain cannot be looked at, and nothing is lost', async () => {
    const { accepted, round, world } = setup()
    const nonce = await accepted(1)
    Object.defineProperty(world, 'root', {
      configurable: true,
      get: () => {
        throw new Error('no node')
      },
    })
    await expect(round()).rejects.toThrow('no node')
    Object.defineProperty(world, 'root', { value: { size: 10n, root: 1n, isPaused: false } })
    expect(await round()).toEqual({ [nonce]: 'mined' })
  })
})

describe('when it is cut off', () => {
  it('while a proof is computed, nothing is sent and nothing counts as failed', async () => {
    const { accepted, round, world, finalize, named } = setup()
    const nonce = await accepted(1)
    const stop = new AbortController()
    world.prove = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        stop.abort()
      })
    expect(Object.fromEntries(await finalize.round(stop.signal))).toEqual({ [nonce]: 'interrupted' })
    expect([world.sent, named('mint.failed')]).toEqual([[], []])
    world.prove = async () => undefined
    expect(await round()).toEqual({ [nonce]: 'mined' })
  })

  it('while a mint is under way, it does not wait for it', async () => {
    const { accepted, world, finalize } = setup()
    const nonce = await accepted(1)
    const stop = new AbortController()
    world.outcome = () => {
      stop.abort()
      return new Promise(() => undefined)
    }
    expect(Object.fromEntries(await finalize.round(stop.signal))).toEqual({ [nonce]: 'interrupted' })
  })
})

describe('a payment that is not minted yet', () => {
  it('says what it waits for and since when, turn by turn', async () => {
    let delayMs = periodMs
    const { accepted, round, world, clock, finalize } = setup({ delayMs: () => delayMs })
    const nonce = await accepted(1, 5n)
    const reasonOf = () => finalize.waits.of(nonce)?.reason
    expect(reasonOf()).toBeUndefined()
    await round()
    expect(reasonOf()).toBe('delayed')
    delayMs = 0
    clock.advance(periodMs)
    world.root = { ...world.root, size: 5n }
    await round()
    const behind = finalize.waits.of(nonce)
    expect(behind).toEqual({ reason: 'root_behind', sinceMs: clock.now() })
    clock.advance(periodMs)
    await round()
    expect(finalize.waits.of(nonce)).toEqual(behind)
    world.root = { ...world.root, isPaused: true }
    await round()
    expect(reasonOf()).toBe('verifier_paused')
    world.root = { ...world.root, isPaused: false, size: 6n }
    world.outcome = () => ({ kind: 'failed', why: 'unfunded' })
    await round()
    expect(reasonOf()).toBe('unfunded')
    // Backing off, it still waits for the same.
    await round()
    expect(reasonOf()).toBe('unfunded')
    world.outcome = () => ({ kind: 'mined', txHash: hashOf(900) })
    clock.advance(periodMs)
    await round()
    expect(reasonOf()).toBe('confirming')
    world.states.set(nonce, 'minted')
    await round()
    expect(reasonOf()).toBeUndefined()
  })

  it('waits for nothing once a reorg took its burn, also where another part of the daemon noticed', async () => {
    const { accepted, round, world, finalize, ledger } = setup()
    const [taken, stays] = [await accepted(1), await accepted(2)]
    world.root = { ...world.root, size: 0n }
    await round()
    expect([...finalize.waits.all()]).toHaveLength(2)
    await ledger.demote(taken)
    world.burns.set(taken, undefined)
    await round()
    expect([finalize.waits.of(taken), finalize.waits.of(stays)?.reason]).toEqual([undefined, 'root_behind'])
  })

  it('waits for a root for long: told once for all of them, and again when that lasts', async () => {
    const { accepted, round, world, clock, named } = setup()
    world.root = { ...world.root, size: 0n }
    await accepted(1)
    await accepted(2)
    for (let i = 0; i < 30; i++) {
      await round()
      clock.advance(oneAtATime.rootPatienceMs / 10)
    }
    expect(named('finalize.waiting')).toMatchObject([
      { payments: 2, seconds: 600 },
      { payments: 2, seconds: 1200 },
    ])
  })
})

describe('confirm', () => {
  it('records a mint once it is deep, while a round is still proving another', async () => {
    const { accepted, round, world, finalize, ledger, named } = setup({ limits: oneAtATime })
    const first = await accepted(1)
    await round()
    await finalize.confirm()
    expect(named('payment.finalized')).toEqual([])
    let endProof: () => void = () => undefined
    world.prove = () =>
      new Promise((resolve) => {
        endProof = resolve
      })
    await accepted(2)
    const proving = round()
    await until(() => named('mint.proving').length === 2)
    expect([first, nonceOf(2)].map((nonce) => finalize.waits.of(nonce)?.reason)).toEqual([
      'confirming',
      'proving',
    ])
    world.states.set(first, 'minted')
    await finalize.confirm()
    expect((await ledger.books.find(first))?.finalized?.mint).toEqual(mintOf(first))
    endProof()
    expect(await proving).toEqual({ [first]: 'confirming', [nonceOf(2)]: 'mined' })
    expect(named('payment.finalized')).toHaveLength(1)
    expect(finalize.waits.of(first)).toBeUndefined()
  })

  it('and a round that come upon the same mint record it once', async () => {
    const { accepted, round, world, finalize, named } = setup()
    const nonce = await accepted(1)
    await round()
    world.states.set(nonce, 'minted')
    await Promise.all([finalize.confirm(), round(), finalize.confirm()])
    expect(named('payment.finalized')).toHaveLength(1)
    expect(finalize.waits.of(nonce)).toBeUndefined()
  })
})
