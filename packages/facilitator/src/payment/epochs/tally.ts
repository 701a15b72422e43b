/**
 * Mints the payments of an epoch together: gathers them, proves a sum of them, and sends it. The chain is the truth here,
 * too. Our account's count says how far the epoch was looked at. A count that equals the sum of our records says that
 * nothing was left out. So a round can be repeated, or cut off anywhere.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { Books } from '../books.js'
import type { MintSchedule, ProvedRoot } from '../finalize/ports.js'
import type { MintStep, Progress, Round } from '../finalize/progress.js'
import type { RecordMints } from '../finalize/record.js'
import type { ReorgedBurns } from '../finalize/reorged-burns.js'
import type { SendMints } from '../finalize/send.js'
import type { Minter } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import { isCompany, judgeDue } from './due.js'
import { type EpochLeaf, type EpochPayments, epochKey, groupByEpoch } from './epoch.js'
import { createForeignWatch, type ForeignWatch } from './foreign-counts.js'
import { createEpochLeaves, type EpochLeaves } from './leaves.js'
import { compareCount, explainMinted, planBatch } from './plan.js'
import type { BatchCount, BatchPorts, SeenCount } from './ports.js'

export type EpochTallies = ReturnType<typeof createEpochTallies>

export type EpochTalliesDeps = BatchPorts & {
  readonly ledger: { readonly books: Pick<Books, 'ofEpoch' | 'openEpochs'> }
  readonly minter: Pick<Minter, 'isUnderWay'>
  readonly send: Pick<SendMints, 'batch'>
  readonly record: Pick<RecordMints, 'counted'>
  readonly progress: Progress
  readonly schedule: MintSchedule
  readonly reorgedBurns: Pick<ReorgedBurns, 'withCurrentBurn'>
  readonly clock: Clock
  readonly report: Report
}

type Steps = Map<ChallengeNonce, MintStep>

/** The payments of one epoch in a round, and the steps taken so far. */
type Tally = EpochPayments & { readonly steps: Steps }

/** Of each epoch the first count at which records were lost; leaves above its checkpoint are compared with counts since. */
type Bases = Map<string, BatchCount>

export function createEpochTallies(deps: EpochTalliesDeps) {
  const bases: Bases = new Map()
  const leavesOf = createEpochLeaves(deps)
  const foreign = createForeignWatch(deps, leavesOf)
  const recordDeep = createRecordDeep(deps, leavesOf, foreign, bases)
  const mintWaiting = createMintWaiting(deps, leavesOf, bases)

  const talliesOf = (payments: readonly AwaitingMint[]): readonly Tally[] =>
    groupByEpoch(payments).map((group) => ({ ...group, steps: new Map() }))

  const countsOf = (tallies: readonly Tally[]) =>
    tallies.length === 0 ? [] : deps.counts(tallies.map(({ epoch }) => epoch))

  async function takeOn(tally: Tally, seen: SeenCount, root: ProvedRoot, round: Round): Promise<void> {
    await foreign.search(tally)
    await recordDeep(tally, seen.deep)
    const waiting = await waitingOf(deps, tally, root, round)
    if (waiting.length > 0) await mintWaiting(tally, waiting, seen.latest, root, round)
  }

  async function failed({ epoch, payments, steps }: Tally, err: unknown): Promise<void> {
    deps.report({ event: 'batch.failed', payments: payments.length, reason: 'unavailable', err })
    for (const { challenge } of payments) {
      if (steps.get(challenge.nonce) === 'finalized') continue
      deps.progress.waits.set(challenge.nonce, 'unavailable')
      steps.set(challenge.nonce, 'failed')
    }
    await deps.schedule.failed(epoch)
  }

  return {
    /** Takes the payments of all epochs one step further. Payments of no epoch are passed over. */
    async round(
      payments: readonly AwaitingMint[],
      root: ProvedRoot,
      round: Round,
    ): Promise<ReadonlyMap<ChallengeNonce, MintStep>> {
      const tallies = talliesOf(payments)
      const keys = new Set(tallies.map(({ epoch }) => epochKey(epoch)))
      for (const key of bases.keys()) if (!keys.has(key)) bases.delete(key)
      const counts = await countsOf(tallies)
      for (const [i, tally] of tallies.entries()) {
        const seen = counts[i]
        if (!seen || round.signal.aborted) break
        await takeOn(tally, seen, root, round).catch((err: unknown) =>
          round.signal.aborted ? undefined : failed(tally, err),
        )
      }
      return new Map(tallies.flatMap(({ steps }) => [...steps]))
    },

    /** Records payments that were counted and are deep enough by now. */
    async confirm(payments: readonly AwaitingMint[]): Promise<void> {
      const tallies = talliesOf(payments)
      const counts = await countsOf(tallies)
      for (const [i, tally] of tallies.entries()) {
        const seen = counts[i]
        if (seen) await recordDeep(tally, seen.deep)
      }
    },

    searchOpen: foreign.searchOpen,
  }
}

/** Records payments below the deep checkpoint, when the count equals our records. */
function createRecordDeep(
  deps: EpochTalliesDeps,
  leavesOf: EpochLeaves,
  foreign: Pick<ForeignWatch, 'tell'>,
  bases: Bases,
): (tally: Tally, deep: BatchCount) => Promise<void> {
  return async ({ epoch, payments, steps }, deep) => {
    const below = payments.filter(({ burn }) => burn.leafIndex < deep.checkpoint)
    if (below.length === 0 || deep.minted < deep.counted) return
    const leaves = await leavesOf(epoch, payments, deep.checkpoint)
    const key = epochKey(epoch)
    const base = bases.get(key)
    if (base && base.checkpoint > deep.checkpoint) bases.delete(key)
    if (compareCount(leaves, deep, bases.get(key)) === 'lost' && !bases.has(key)) bases.set(key, deep)
    const sureFrom = compareCount(leaves, deep, bases.get(key))
    if (sureFrom === 'missed') return
    const minted = explainMinted(leaves, deep)
    if (minted === 'foreign') {
      for (const { challenge } of below) steps.set(challenge.nonce, 'foreign_mint')
      foreign.tell(epoch, { value: deep.minted - deep.counted })
    }
    if (minted !== 'ours') return
    const isSure = ({ burn }: AwaitingMint) => sureFrom !== 'lost' && burn.leafIndex >= sureFrom
    const ends = await deps.record.counted(epoch, below.filter(isSure))
    for (const payment of below) {
      const { nonce } = payment.challenge
      const counted = ends.get(nonce) === 'finalized' ? 'finalized' : 'confirming'
      steps.set(nonce, isSure(payment) ? counted : 'records_missing')
    }
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
  bases: Bases,
): (
  tally: Tally,
  waiting: readonly AwaitingMint[],
  count: BatchCount,
  root: ProvedRoot,
  round: Round,
) => Promise<void> {
  const { schedule, pace, fits } = deps

  return async ({ epoch, steps }, waiting, count, root, round) => {
    const stepFor = (payments: readonly AwaitingMint[], step: MintStep) => {
      for (const { challenge } of payments) steps.set(challenge.nonce, step)
    }
    const followed = await deps.followedLeaves()
    const limit = followed === undefined || followed > root.size ? root.size : followed
    const covered = waiting.filter(({ burn }) => burn.leafIndex < limit)
    stepFor(waiting, 'root_behind')
    stepFor(covered, 'gathering')
    const isShallow = ({ burn }: AwaitingMint) => burn.leafIndex < count.checkpoint
    if (covered.length === 0) return
    const judge = async (payments: readonly AwaitingMint[]) => {
      const turn = await schedule.turnOf(epoch)
      const { due, dueAtMs } = judgeDue(payments, turn, deps.clock.now(), deps)
      if (dueAtMs !== turn.dueAtMs) await schedule.setDue(epoch, dueAtMs)
      return due && { due, chance: turn.draws.place }
    }
    if (!covered.some(isShallow) && !(await judge(covered))) return
    const base = bases.get(epochKey(epoch))
    const leaves = await leavesOf(epoch, waiting, count.checkpoint)
    const isUnfinished =
      compareCount(leaves, count, base) === 'missed' || explainMinted(leaves, count) === 'open'
    // They are counted, and not deep enough yet.
    const counted = isUnfinished ? [] : covered.filter(isShallow)
    stepFor(counted, 'confirming')
    const open = covered.filter((payment) => !counted.includes(payment))
    const judged = open.length > 0 ? await judge(open) : undefined
    if (!judged) return
    stepFor(open, 'queued')
    if (round.mintsLeft === 0) return
    // A count that is made again shows nothing new, and has to come to its end.
    const company = judged.due === 'company' && !isUnfinished ? pace : undefined
    const planned = planBatch({
      leaves,
      count,
      base,
      limit,
      company,
      chance: judged.chance,
      rangeOf: deps.rangeOf,
    })
    if (!planned) return stepFor(open, 'gathering')
    round.mintsLeft -= 1
    const isNew = ({ isCounted }: EpochLeaf) => isCounted === false
    await deps.mark(planned.leaves.filter(isNew))
    for (const { challenge } of open) deps.progress.waits.set(challenge.nonce, 'proving')
    const end = await deps.send.batch({ epoch, ...planned }, open, root, round)
    const places = new Set(planned.leaves.map(({ burn }) => burn.leafIndex))
    const inBatch = open.filter(({ burn }) => places.has(burn.leafIndex))
    stepFor(end === 'failed' ? open : inBatch, end)
    if (end === 'failed') return schedule.failed(epoch)
    await schedule.forget(epoch)
    // The others had their wait. They are minted proof after proof, as long as they are company for each other.
    const others = open.filter((payment) => !inBatch.includes(payment))
    if (isCompany(others, pace, fits)) await schedule.setDue(epoch, deps.clock.now())
  }
}
