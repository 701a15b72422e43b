/** Measures one cell: a number of payments of one contestant at one concurrency, with their costs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainView } from '../inputs/chain-view.js'
import type { Child } from '../processes/child.js'
import type { Load, LoadResult } from '../processes/load.js'
import { cpuMs } from '../processes/usage.js'
import type { Contestant } from './contestants.js'
import type { JournalCounts } from './own-figures.js'

export type Step = 'verify' | 'settle'

export type Cell = LoadResult & {
  readonly step: Step
  readonly concurrency: number
  readonly payments: number
  readonly rpcCalls: number
  readonly rpcRoundTrips: number
  readonly transactions: number
  readonly reverted: number
  readonly gas: number
  /** Processor time of the facilitator and of the node meanwhile; absent where it cannot be read. */
  readonly facilitatorCpuMs?: number
  readonly nodeCpuMs?: number
  /** Journal counts of this cell, for a contestant with a journal. */
  readonly journal?: JournalCounts
}

export type Duplicates = {
  readonly successes: number
  readonly transfers: number
  readonly reverted: number
}

export type Measure = ReturnType<typeof createMeasure>

const duplicates = 16
/** A process is idle if it used less than this share of a core during one look. */
const limits = { idlePollMs: 200, idleShare: 0.05, idlePollsMax: 25 } as const

/** Waits until background work of the preparation is done, or until the limit. */
export async function untilIdle(pid: number): Promise<void> {
  for (let polls = 0; polls < limits.idlePollsMax; polls++) {
    const used = stopwatch(pid)
    await sleep(limits.idlePollMs)
    if ((used() ?? 0) <= limits.idlePollMs * limits.idleShare) return
  }
}

export function createMeasure(deps: {
  chain: ChainView
  chainPid: number
  blockMs: number
  load: Child<object>
}) {
  const { chain } = deps

  async function measured(
    contestant: Contestant,
    step: Step,
    bodies: readonly string[],
    concurrency: number,
    afterBlockMs?: number,
  ): Promise<Cell> {
    await untilIdle(contestant.pid)
    // Read before the chain's figures, because reading the journal's counts asks the chain too.
    const journalBefore = await contestant.journal?.()
    if (afterBlockMs !== undefined) {
      await chain.nextBlock()
      await sleep(afterBlockMs)
    }
    const firstBlock = (await chain.read.getBlockNumber()) + 1n
    const facilitatorCpu = stopwatch(contestant.pid)
    const nodeCpu = stopwatch(deps.chainPid)
    const before = await chain.stats()
    const load: Load = { url: `${contestant.url}/${step}`, bodies, concurrency }
    const result = await deps.load.ask<LoadResult>(load)
    const facilitatorCpuMs = facilitatorCpu()
    const nodeCpuMs = nodeCpu()
    const after = await chain.stats()
    await chain.drain(contestant.relayer)
    const journalAfter = await contestant.journal?.()
    const lastBlock = await chain.read.getBlockNumber()
    const spent =
      step === 'verify'
        ? { transactions: 0, reverted: 0, gas: 0n }
        : await chain.spent(contestant.relayer, firstBlock, lastBlock)
    return {
      ...result,
      step,
      concurrency,
      payments: bodies.length,
      rpcCalls: after.calls - before.calls,
      // One less: the second read of the figures is itself a round trip.
      rpcRoundTrips: after.roundTrips - before.roundTrips - 1,
      transactions: spent.transactions,
      reverted: spent.reverted,
      gas: Number(spent.gas),
      ...(facilitatorCpuMs !== undefined && { facilitatorCpuMs }),
      ...(nodeCpuMs !== undefined && { nodeCpuMs }),
      ...(journalBefore && journalAfter && { journal: since(journalBefore, journalAfter) }),
    }
  }

  return {
    async cell(contestant: Contestant, step: Step, payments: number, concurrency: number): Promise<Cell> {
      const made = await contestant.makePayments(payments)
      return measured(
        contestant,
        step,
        made.map(({ body }) => body),
        concurrency,
      )
    },

    /**
     * One settle after the other, each on a quiet system. They come at the same moments between two blocks for everybody,
     * because that decides how long they wait. The rate counts from the block before, as if one came with every block.
     */
    async settlesAlone(contestant: Contestant, count: number): Promise<Cell[]> {
      const cells: Cell[] = []
      for (const [index, { body }] of (await contestant.makePayments(count)).entries()) {
        const afterBlockMs = (deps.blockMs * (index + 0.5)) / (count + 1)
        const cell = await measured(contestant, 'settle', [body], 1, afterBlockMs)
        cells.push({ ...cell, seconds: cell.seconds + afterBlockMs / 1000 })
      }
      return cells
    },

    /** One payment, presented sixteen times at once. */
    async duplicates(contestant: Contestant): Promise<Duplicates> {
      const [payment] = await contestant.makePayments(1)
      if (!payment) throw new Error('no payment was made')
      const fromBlock = await chain.read.getBlockNumber()
      const bodies = Array.from({ length: duplicates }, () => payment.body)
      const { succeeded, reverted } = await measured(contestant, 'settle', bodies, duplicates)
      const transfers = await chain.transfers(contestant.token, fromBlock + 1n, payment.payer)
      return { successes: succeeded, transfers: transfers.length, reverted }
    },
  }
}

const since = (before: JournalCounts, after: JournalCounts): JournalCounts => ({
  records: after.records - before.records,
  syncs: after.syncs - before.syncs,
})

function stopwatch(pid: number): () => number | undefined {
  const before = cpuMs(pid)
  return () => {
    const now = cpuMs(pid)
    return before === undefined || now === undefined ? undefined : now - before
  }
}
