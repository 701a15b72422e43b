/**
 * Mints the payments of an epoch together: gathers them, proves a sum of them, and sends it. The chain is the truth here,
 * too. Our account's count says how far the epoch was looked at. A count that equals the sum of our records says that
 * nothing was left out. So a round can be repeated, or cut off anywhere.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { Books } from '../books.js'
import type { ProvedRoot } from '../finalize/ports.js'
import type { MintStep, Progress, Round } from '../finalize/progress.js'
import type { RecordMints } from '../finalize/record.js'
import type { ReorgedBurns } from '../finalize/reorged-burns.js'
import type { SendMints } from '../finalize/send.js'
import type { Minter } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import { type Epoch, type EpochLeaf, type EpochPayments, epochKey, groupByEpoch } from './epoch.js'
import { createForeignWatch, type ForeignWatch } from './foreign-counts.js'
import { createEpochLeaves, type EpochLeaves } from './leaves.js'
import { createEpochMemory, type EpochMemory } from './memory.js'
import { compareCount, explainMinted, planBatch } from './plan.js'
import type { BatchCount, BatchPorts, SeenCount } from './ports.js'

export type EpochTallies = ReturnType<typeof createEpochTallies>

export type EpochTalliesDeps = BatchPorts & {
  readonly ledger: { readonly books: Pick<Books, 'ofEpoch' | 'openEpochs'> }
  readonly minter: Pick<Minter, 'isUnderWay'>
  readonly send: Pick<SendMints, 'batch'>
  readonly record: Pick<RecordMints, 'counted'>
  readonly progress: Progress
  readonly reorgedBurns: Pick<ReorgedBurns, 'withCurrentBurn'>
  readonly clock: Clock
  readonly report: Report
}

type Steps = Map<ChallengeNonce, MintStep>

/** The payments of one epoch in a round, with the memory of the epoch and the steps taken so far. */
type Tally = EpochPayments & {
  readonly memory: EpochMemory
  readonly steps: Steps
  /** Transfers that were left out of the epoch are counted now. */
  readonly isClosing: boolean
}

const ownLeaf = ({ burn, beside }: EpochLeaf): readonly bigint[] =>
  beside === undefined ? [burn.leafIndex] : []

export function createEpochTallies(deps: EpochTalliesDeps) {
  const memories = new Map<string, EpochMemory>()
  const askedFor = new Set<ChallengeNonce>()
  const closing = new Map<string, Epoch>()
  const leavesOf = createEpochLeaves(deps)
  const foreign = createForeignWatch(deps, leavesOf)
  const recordDeep = createRecordDeep(deps, leavesOf, foreign)
  const mintWaiting = createMintWaiting(deps, leavesOf, askedFor)

  /** Epochs with nothing left to mint are forgotten. */
  function talliesOf(payments: readonly AwaitingMint[]): readonly Tally[] {
    const groups = groupByEpoch(payments, [...closing.values()])
    const keys = new Set(groups.map(({ epoch }) => epochKey(epoch)))
    for (const key of memories.keys()) if (!keys.has(key)) memories.delete(key)
    return groups.map((group) => {
      const key = epochKey(group.epoch)
      const memory = memories.get(key) ?? createEpochMemory(deps)
      memories.set(key, memory)
      return { ...group, memory, steps: new Map(), isClosing: closing.has(key) }
    })
  }

  const countsOf = (tallies: readonly Tally[]) =>
    tallies.length === 0 ? [] : deps.counts(tallies.map(({ epoch }) => epoch))

  async function takeOn(tally: Tally, seen: SeenCount, root: ProvedRoot, round: Round): Promise<void> {
    await foreign.search(tally)
    if (await recordDeep(tally, seen.deep)) closing.delete(epochKey(tally.epoch))
    const waiting = await waitingOf(deps, tally, root, round)
    if (waiting.length > 0 || closing.has(epochKey(tally.epoch)))
      await mintWaiting(tally, waiting, seen.latest, root, round)
  }

  function failed({ payments, memory, steps }: Tally, err: unknown): void {
    memory.ended('failed')
    deps.report({ event: 'batch.failed', payments: payments.length, reason: 'unavailable', err })
    for (const { challenge } of payments) {
      if (steps.get(challenge.nonce) === 'finalized') continue
      deps.progress.waits.set(challenge.nonce, 'unavailable')
      steps.set(challenge.nonce, 'failed')
    }
  }

  return {
    /** Takes the payments of all epochs one step further. Payments of no epoch are passed over. */
    async round(
      payments: readonly AwaitingMint[],
      root: ProvedRoot,
      round: Round,
    ): Promise<ReadonlyMap<ChallengeNonce, MintStep>> {
      const tallies = talliesOf(payments)
      const counts = await countsOf(tallies)
      for (const [i, tally] of tallies.entries()) {
        const seen = counts[i]
        if (!seen || round.signal.aborted) break
        await takeOn(tally, seen, root, round).catch((err: unknown) => {
          if (!round.signal.aborted) failed(tally, err)
        })
      }
      return new Map(tallies.flatMap(({ steps }) => [...steps]))
    },

    /** Records payments that were counted and are deep enough by now. */
    async confirm(payments: readonly AwaitingMint[]): Promise<void> {
      const tallies = groupByEpoch(payments).flatMap((group): Tally[] => {
        const memory = memories.get(epochKey(group.epoch))
        return memory ? [{ ...group, memory, steps: new Map(), isClosing: false }] : []
      })
      const counts = await countsOf(tallies)
      for (const [i, tally] of tallies.entries()) {
        const seen = counts[i]
        if (seen) await recordDeep(tally, seen.deep)
      }
    },

    searchOpen: foreign.searchOpen,

    /** The epoch of this payment is minted in the next round, whatever it waits for. */
    mintNow: (nonce: ChallengeNonce) => void askedFor.add(nonce),

    isAnyClosing: () => closing.size > 0,

    /**
     * Counts the epoch again with every transfer that was left out of it, and returns how many these are. The sum that
     * follows shows what they come to. Ask again after a restart that came before they were minted.
     */
    async close(epoch: Epoch): Promise<number> {
      const own = new Set((await leavesOf(epoch, [], 0n)).flatMap(ownLeaf))
      const left = (await deps.found(epoch)).filter(
        (leaf) => leaf.beside !== 'minted' && !own.has(leaf.burn.leafIndex),
      )
      await deps.mark(left, 'counted')
      if (left.length > 0) closing.set(epochKey(epoch), epoch)
      return left.length
    },
  }
}

/** Records payments below the deep checkpoint, when the count equals our records. True when nothing marked is left. */
function createRecordDeep(
  deps: EpochTalliesDeps,
  leavesOf: EpochLeaves,
  foreign: Pick<ForeignWatch, 'tell'>,
): (tally: Tally, deep: BatchCount) => Promise<boolean> {
  return async ({ epoch, payments, memory, steps, isClosing }, deep) => {
    const below = payments.filter(({ burn }) => burn.leafIndex < deep.checkpoint)
    if ((below.length === 0 && !isClosing) || deep.minted < deep.counted) return false
    const leaves = await leavesOf(epoch, payments, deep.checkpoint)
    if (memory.base && memory.base.checkpoint > deep.checkpoint) memory.base = undefined
    if (compareCount(leaves, deep, memory.base) === 'lost') memory.base ??= deep
    const sureFrom = compareCount(leaves, deep, memory.base)
    if (sureFrom === 'missed') return false
    const minted = explainMinted(leaves, deep)
    if (minted === 'foreign') {
      for (const { challenge } of below) steps.set(challenge.nonce, 'foreign_mint')
      foreign.tell(memory, { epoch: epoch.start, value: deep.minted - deep.counted })
    }
    if (minted !== 'ours') return false
    const isDone = ({ burn, beside }: EpochLeaf) => beside === 'counted' && burn.leafIndex < deep.checkpoint
    if (sureFrom === 0n) await deps.mark(leaves.filter(isDone), 'minted')
    const isSure = ({ burn }: AwaitingMint) => sureFrom !== 'lost' && burn.leafIndex >= sureFrom
    const ends = await deps.record.counted(epoch, below.filter(isSure))
    for (const payment of below) {
      const { nonce } = payment.challenge
      const counted = ends.get(nonce) === 'finalized' ? 'finalized' : 'confirming'
      steps.set(nonce, isSure(payment) ? counted : 'records_missing')
    }
    return !leaves.some((leaf) => leaf.beside === 'counted' && !isDone(leaf))
  }
}

/** The payments that could be minted now, each with its burn as the chain holds it. The others get their step. */
async function waitingOf(
  deps: Pick<EpochTalliesDeps, 'minter' | 'reorgedBurns'>,
  { payments, steps }: Tally,
  root: ProvedRoot,
  round: Round,
): Promise<readonly AwaitingMint[]> {
  const isUnderWay = ({ challenge }: AwaitingMint) => deps.minter.isUnderWay(challenge.nonce)
  // The next proof begins where this one ends, so it has to wait.
  const isAnyUnderWay = payments.some(isUnderWay)
  const waiting: AwaitingMint[] = []
  for (const payment of payments) {
    const { nonce } = payment.challenge
    if (steps.has(nonce)) continue
    // The bound keeps a round from reading thousands of waiting burns. A proof of a burn that moved is refused.
    const current = round.burnsLeft > 0 ? await deps.reorgedBurns.withCurrentBurn(payment) : payment
    round.burnsLeft = Math.max(0, round.burnsLeft - 1)
    if (!current) steps.set(nonce, 'burn_lost')
    else if (isAnyUnderWay) steps.set(nonce, isUnderWay(payment) ? 'confirming' : 'queued')
    else if (root.isPaused) steps.set(nonce, 'verifier_paused')
    else waiting.push(current)
  }
  return waiting
}

function createMintWaiting(
  deps: EpochTalliesDeps,
  leavesOf: EpochLeaves,
  askedFor: Set<ChallengeNonce>,
): (
  tally: Tally,
  waiting: readonly AwaitingMint[],
  count: BatchCount,
  root: ProvedRoot,
  round: Round,
) => Promise<void> {
  const isAskedFor = ({ challenge }: AwaitingMint) => askedFor.has(challenge.nonce)

  return async ({ epoch, memory, steps, isClosing }, waiting, count, root, round) => {
    const stepFor = (payments: readonly AwaitingMint[], step: MintStep) => {
      for (const { challenge } of payments) steps.set(challenge.nonce, step)
    }
    const followed = await deps.followedLeaves()
    const limit = followed === undefined || followed > root.size ? root.size : followed
    const covered = waiting.filter(({ burn }) => burn.leafIndex < limit)
    stepFor(waiting, 'root_behind')
    stepFor(covered, 'gathering')
    const isShallow = ({ burn }: AwaitingMint) => burn.leafIndex < count.checkpoint
    if (!isClosing) {
      if (covered.length === 0) return
      if (!covered.some(isShallow) && !covered.some(isAskedFor) && !memory.dueFor(covered)) return
    }
    const leaves = await leavesOf(epoch, waiting, count.checkpoint)
    const isUnfinished =
      compareCount(leaves, count, memory.base) === 'missed' || explainMinted(leaves, count) === 'open'
    // They are counted, and not deep enough yet.
    const counted = isUnfinished ? [] : covered.filter(isShallow)
    stepFor(counted, 'confirming')
    const open = covered.filter((payment) => !counted.includes(payment))
    const isAnyAskedFor = open.some(isAskedFor)
    const due = isAnyAskedFor ? 'waited' : memory.dueFor(open)
    const isWanted = (open.length > 0 && due !== undefined) || (isClosing && !root.isPaused)
    if (isWanted) stepFor(open, 'queued')
    if (!isWanted || round.mintsLeft === 0) return
    // A count that is made again shows nothing new, and has to come to its end.
    const company = due === 'company' && !isUnfinished && !isClosing ? deps.pace : undefined
    const { base, endChance } = memory
    const planned = planBatch({
      leaves,
      count,
      base,
      limit,
      company,
      chance: endChance(),
      rangeOf: deps.rangeOf,
    })
    if (!planned) return stepFor(open, 'gathering')
    round.mintsLeft -= 1
    memory.begin(limit)
    const isNew = ({ beside }: EpochLeaf) => beside === 'open'
    await deps.mark(planned.leaves.filter(isNew), 'counted')
    for (const { challenge } of open) deps.progress.waits.set(challenge.nonce, 'proving')
    const end = await deps.send.batch({ epoch, ...planned }, open, root, round)
    memory.ended(end === 'failed' ? 'failed' : 'well')
    const places = new Set(planned.leaves.map(({ burn }) => burn.leafIndex))
    const inBatch = open.filter(({ burn }) => places.has(burn.leafIndex))
    if (end !== 'failed') for (const { challenge } of inBatch) askedFor.delete(challenge.nonce)
    stepFor(end === 'failed' ? open : inBatch, end)
  }
}
