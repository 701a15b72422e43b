/** A model of the chain's side of batch mints around a real ledger and a real finalization. */
import assert from 'node:assert/strict'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type BatchShape, batchRange, fittingLeaves } from '@svc-zerc20/zk'
import { stoppedClock } from '../../../test/support/clocks.js'
import { type Epoch, type EpochLeaf, epochKey, epochOf } from '../src/payment/epochs/epoch.js'
import type { Batch, BatchCount, BatchPace } from '../src/payment/epochs/ports.js'
import { createFinalize, type Finalize } from '../src/payment/finalize/finalize.js'
import type { MintStep } from '../src/payment/finalize/progress.js'
import type { MintOutcome } from '../src/payment/ports.js'
import type { Burn, Challenge } from '../src/payment/records.js'
import type { FlowEvent } from '../src/payment/report.js'
import { createMintSchedule } from '../src/store/adapters/schedule.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  epochOfSecond,
  hashOf,
  permitPayloadOf,
  seconds,
  units,
} from './challenges.js'
import { createMemoryStore } from './store.js'

/** Small, so that few payments need several proofs. */
const smallShape = { depth: 40, windowHeight: 3, slots: 4, windows: 2 }

const confirmations = 2
const minuteMs = 60_000
const never = new AbortController().signal
const firstPayer = 100_000

type Count = { readonly checkpoint: bigint; readonly counted: bigint }

export type BatchWorld = ReturnType<typeof createBatchWorld>

type Changes = Partial<BatchPace> & {
  /** The pause after a failure. */
  readonly restMs?: number
  readonly shape?: BatchShape
  /** Default: the number that the world has at that moment. */
  readonly chance?: () => number
}

export function createBatchWorld(changes: Changes = {}) {
  const { restMs = minuteMs, shape = smallShape, chance, ...paceChanges } = changes
  const pace: BatchPace = {
    least: 3,
    floor: 0n,
    waitMaxMs: 60 * minuteMs,
    jitterMs: 0,
    ...paceChanges,
  }
  const clock = stoppedClock()
  const { ledger, store } = createMemoryStore(clock)
  const events: FlowEvent[] = []
  const world = {
    /** Every transfer of the token: to whom, and how much. Zero stands for somebody else's. */
    transfers: [] as { readonly to: string; readonly value: bigint }[],
    /** Transfers to our addresses that the search will find, or has found. */
    beside: [] as EpochLeaf[],
    dustBelow: 0n,
    rootSize: 0,
    followed: 0 as number | undefined,
    isPaused: false,
    submitter: 'a',
    generation: 0,
    chance: 0,
    /** The outcome of the next mint that is not mined. */
    fails: undefined as Extract<MintOutcome, { kind: 'failed' }>['why'] | undefined,
    counts: new Map<string, Count>(),
    totals: new Map<string, bigint>(),
    /** The state after each block, the newest last. */
    blocks: [] as { counts: Map<string, Count>; totals: Map<string, bigint> }[],
    counted: [] as { readonly batch: Batch; readonly key: string }[],
    underWay: new Set<ChallengeNonce>(),
  }
  const proved = new Map<string, Batch>()

  function mine(): void {
    world.blocks.push({ counts: new Map(world.counts), totals: new Map(world.totals) })
  }
  mine()

  const keyOf = (epoch: Epoch) => `${world.generation} ${epochKey(epoch)} ${world.submitter}`

  function countAt(epoch: Epoch, back: number): BatchCount {
    const { counts, totals } = world.blocks.at(-back) ?? { counts: new Map(), totals: new Map() }
    const { checkpoint, counted } = counts.get(keyOf(epoch)) ?? { checkpoint: 0n, counted: 0n }
    return { checkpoint, counted, minted: totals.get(epochKey(epoch)) ?? 0n }
  }

  /** The contract: a proof goes on from the checkpoint or begins at zero, and the largest count is minted. */
  function apply(batch: Batch): MintOutcome {
    const { epoch, start, end, leaves } = batch
    const before = world.counts.get(keyOf(epoch)) ?? { checkpoint: 0n, counted: 0n }
    if (start !== 0n && start !== before.checkpoint) return { kind: 'failed', why: 'would_revert' }
    const value = leaves.reduce((sum, { burn }) => sum + burn.value, 0n)
    const counted = start === 0n ? value : before.counted + value
    world.counts.set(keyOf(epoch), { checkpoint: end, counted })
    const total = world.totals.get(epochKey(epoch)) ?? 0n
    world.totals.set(epochKey(epoch), total + (counted > total ? counted - total : 0n))
    world.counted.push({ batch, key: keyOf(epoch) })
    mine()
    return { kind: 'mined', txHash: hashOf(world.counted.length) }
  }

  /** The demands of circuit and contract on a proof. */
  function assertProvable({ start, end, leaves }: Batch): void {
    let last = start - 1n
    for (const { challenge, burn } of leaves) {
      assert(burn.leafIndex > last && burn.leafIndex < end, 'leaves rise from start and lie below end')
      last = burn.leafIndex
      const transfer = world.transfers[Number(burn.leafIndex)]
      assert(transfer?.to === challenge.payTo && transfer.value === burn.value, 'the leaf is in the tree')
    }
    assert(leaves.length > 0 && leaves.length <= shape.slots, 'a proof has its places')
    assert(end <= BigInt(world.rootSize), 'the root covers the end')
  }

  const open = (): Finalize =>
    createFinalize({
      ledger,
      verifier: {
        latestRoot: async () => ({ size: BigInt(world.rootSize), root: 1n, isPaused: world.isPaused }),
        mintStates: async (payments) => payments.map(() => 'due' as const),
        findMint: async () => undefined,
      },
      reread: async (_, burn) => ({ burn, depth: 9 }),
      prove: () => Promise.reject(new Error('no payment here has a proof of its own')),
      batches: {
        counts: async (epochs) =>
          epochs.map((epoch) => ({ latest: countAt(epoch, 1), deep: countAt(epoch, confirmations) })),
        findCounts: async (epoch) =>
          world.counted
            .filter(({ key }) => key === keyOf(epoch))
            .map(({ batch }, i) => ({ ...batch, txHash: hashOf(i + 1), blockNumber: 1n })),
        async prove(batch) {
          assertProvable(batch)
          const data = `0x${(proved.size + 1).toString(16)}` as const
          proved.set(data, batch)
          return { to: addressOf(1), data, gas: 1n }
        },
        foreignCounts: async (epoch) =>
          [...world.counts]
            .filter(([key]) => key.includes(epochKey(epoch)) && key !== keyOf(epoch))
            .map(([key, count]) => ({
              submitter: key.split(' ').at(-1) ?? '',
              end: count.checkpoint,
              ...count,
            })),
        found: async (epoch) =>
          world.beside.filter(({ challenge, burn }) => {
            const own = epochOf(challenge)
            const isSeen = world.followed === undefined || burn.leafIndex < BigInt(world.followed)
            return own && epochKey(own) === epochKey(epoch) && isSeen
          }),
        async mark(leaves) {
          const places = new Set(leaves.map(({ burn }) => burn.leafIndex))
          world.beside = world.beside.map((leaf) =>
            places.has(leaf.burn.leafIndex) ? { ...leaf, isCounted: true } : leaf,
          )
        },
        get dustBelow() {
          return world.dustBelow
        },
        followedLeaves: async () => (world.followed === undefined ? undefined : BigInt(world.followed)),
        fits: (indices) => fittingLeaves(indices.map(Number), shape),
        rangeOf(indices, limit, draw) {
          const { count, end } = batchRange(indices.map(Number), Number(limit), draw, shape)
          return { count, end: BigInt(end) }
        },
        pace,
      },
      minter: {
        async mint({ data }) {
          const batch = proved.get(data)
          assert(batch, 'a call that was proved')
          const { fails: why } = world
          world.fails = undefined
          return why ? { kind: 'failed', why } : apply(batch)
        },
        isUnderWay: (nonce) => world.underWay.has(nonce),
      },
      clock,
      report: (event) => events.push(event),
      schedule: createMintSchedule({
        store,
        clock,
        delayMs: () => 0,
        chance: chance ?? (() => world.chance),
        retryMs: { first: restMs, max: restMs },
      }),
      shuffle: (items) => items,
      burnConfirmations: 1,
      limits: {
        paymentsPerRoundMax: 48,
        burnsPerRoundMax: 1_000,
        mintsPerRoundMax: 16,
        attemptsInFlightMax: 1,
        mintReadsMax: 3,
        mintWaitMs: minuteMs,
        rootPatienceMs: minuteMs,
      },
    })
  let finalize = open()

  let seed = 0
  /** Each transfer is from an account of its own, unless the payer is told. */
  const appended = (to: string, value: bigint, payer = firstPayer + world.transfers.length): Burn => {
    world.transfers.push({ to, value })
    const leafIndex = BigInt(world.transfers.length - 1)
    return { ...burnOf(world.transfers.length), leafIndex, from: addressOf(payer), value: units(value) }
  }

  async function issue(value: bigint, epoch: number): Promise<Challenge> {
    seed += 1
    const issuedAt = seconds(Math.floor(clock.now() / 1000))
    const challenge = challengeOf(1_000 + seed, {
      epoch: epochOfSecond(epoch),
      amount: units(value),
      issuedAt,
      expiresAt: seconds(issuedAt + 300),
    })
    await ledger.issue(challenge)
    return challenge
  }
  const claim = (challenge: Challenge) =>
    ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(challenge.nonce) }))

  return {
    world,
    clock,
    ledger,
    events,
    mine,
    /** A new process: all memory but the ledger's is gone. */
    restart() {
      finalize = open()
    },
    finalize: () => finalize,
    /** A payment of an epoch, accepted. */
    async pay(value: bigint, epoch = 60, payer?: number): Promise<Challenge> {
      const challenge = await issue(value, epoch)
      await claim(challenge)
      await ledger.accept(challenge.nonce, appended(challenge.payTo, value, payer))
      return challenge
    },
    /** A transfer that pays, of a payer who has not presented it yet. */
    async payUnpresented(value: bigint, epoch = 60): Promise<Challenge> {
      const challenge = await issue(value, epoch)
      world.beside.push({ challenge, burn: appended(challenge.payTo, value), isCounted: false })
      return challenge
    },
    /** An address that nobody has paid. */
    offer: (value: bigint, epoch = 60) => issue(value, epoch),
    /** Now its payer presents it: the first transfer to the address, or another one. Too late it buys nothing. */
    async present(challenge: Challenge, at = 0): Promise<void> {
      const found = world.beside.filter(({ challenge: { nonce } }) => nonce === challenge.nonce)[at]
      assert(found, 'a transfer that was not presented yet')
      await claim(challenge)
      const accepted = await ledger.accept(challenge.nonce, found.burn)
      if (accepted !== 'accepted') await ledger.recordLate(challenge, found.burn, 'unpresented')
    },
    /** Another transfer to the address of a payment. */
    payAgain(challenge: Challenge, value: bigint): void {
      world.beside.push({ challenge, burn: appended(challenge.payTo, value), isCounted: false })
    },
    /** Somebody else's transfers. */
    others(count: number): void {
      for (let i = 0; i < count; i++) world.transfers.push({ to: 'others', value: 1n })
    },
    /** A root over everything, and a search up to there. */
    cover() {
      world.rootSize = world.transfers.length
      if (world.followed !== undefined) world.followed = world.transfers.length
    },
    async round(): Promise<Readonly<Record<string, MintStep>>> {
      const steps = Object.fromEntries(await finalize.round(never))
      mine()
      return steps
    },
    total: (challenge: Challenge) => {
      const epoch = epochOf(challenge)
      return (epoch && world.totals.get(epochKey(epoch))) ?? 0n
    },
    isFinalized: async ({ nonce }: Challenge) => (await ledger.books.find(nonce))?.finalized !== undefined,
  }
}
