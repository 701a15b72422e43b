/** One row: so many payments of one facilitator at one pace, and what they cost. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainView } from '../inputs/chain-view.js'
import { cpuMs } from '../processes/usage.js'
import type { Facilitator } from './facilitators.js'
import { type LoadResult, type Pace, percentile, send } from './load.js'

export type Step = 'verify' | 'settle'

/** `alone` sends the next when the one before it was answered, at moments that are spread between two blocks. */
export type Ask = {
  readonly step: Step
  readonly payments: number
  readonly pace: Pace | 'alone'
}

export type Row = {
  readonly payments: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failures: Readonly<Record<string, number>>
  /** Accepted, says the answer, and no transfer is on the chain. */
  readonly lost: number
  readonly reverted: number
  /** For each payment: processor time of facilitator and node, calls that the node got, gas of those that succeeded. */
  readonly facilitatorCpuMs?: number
  readonly nodeCpuMs?: number
  readonly rpcCalls: number
  readonly gas?: number
}

/** Sixteen times the same payment at once. */
export type Duplicates = Readonly<Record<'successes' | 'transfers' | 'reverted', number>>

const identical = 16
/** Shops verify before they settle, some at once. */
const verifiesAtOnce = 16
/** A process is idle if it used less than this share of a core during one look. */
const limits = { idlePollMs: 200, idleShare: 0.05, idlePollsMax: 25 } as const

export const failed = ({ failures }: Pick<Row, 'failures'>) =>
  Object.values(failures).reduce((sum, count) => sum + count, 0)

export function createMeasure(deps: { chain: ChainView; chainPid: number; blockMs: number }) {
  const { chain, chainPid, blockMs } = deps

  async function measured(
    { url, pid, relayer, token }: Facilitator,
    { step, pace }: Ask,
    bodies: readonly string[],
  ): Promise<Row> {
    if (step === 'settle' && pace !== 'alone' && 'perSecond' in pace) {
      await send(`${url}/verify`, bodies, { concurrency: verifiesAtOnce })
    }
    await untilIdle(pid)
    if (pace === 'alone') await chain.nextBlock()
    const blockAt = performance.now()
    const firstBlock = (await chain.read.getBlockNumber()) + 1n
    const before = { facilitator: cpuMs(pid), node: cpuMs(chainPid), calls: await chain.calls() }
    const result = await (pace === 'alone'
      ? oneByOne(`${url}/${step}`, bodies, blockAt)
      : send(`${url}/${step}`, bodies, pace))
    const after = { facilitator: cpuMs(pid), node: cpuMs(chainPid), calls: await chain.calls() }
    await chain.drain(relayer)
    const spent = await chain.spent(relayer, firstBlock, await chain.read.getBlockNumber())
    const moved = new Set(await chain.payersSince(token, firstBlock))
    const { latenciesMs, answeredMs, payers } = result
    // Answers of a steady rate come with blocks, so the last ones stand for a whole block's time.
    const steadyMs = Math.max(...answeredMs) - Math.min(...answeredMs) + blockMs
    const isSteady = pace !== 'alone' && 'perSecond' in pace
    const each = (used: number) => used / bodies.length
    const cpu = (of: 'facilitator' | 'node') => {
      const [from, to] = [before[of], after[of]]
      return from === undefined || to === undefined ? undefined : each(to - from)
    }
    const [facilitatorCpuMs, nodeCpuMs] = [cpu('facilitator'), cpu('node')]
    return {
      payments: bodies.length,
      perSecond: latenciesMs.length / (isSteady ? steadyMs / 1000 : result.seconds),
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      failures: result.failures,
      lost: payers.filter((payer) => !moved.has(payer)).length,
      reverted: spent.reverted,
      ...(facilitatorCpuMs !== undefined && { facilitatorCpuMs }),
      ...(nodeCpuMs !== undefined && { nodeCpuMs }),
      rpcCalls: each(after.calls - before.calls),
      ...(step === 'settle' && payers.length > 0 && { gas: Number(spent.gas) / payers.length }),
    }
  }

  /** The moment decides how long a settle waits for its block, so it is the same for everybody. Blocks come at a steady pace. */
  async function oneByOne(url: string, bodies: readonly string[], blockAt: number): Promise<LoadResult> {
    const results: LoadResult[] = []
    for (const [index, body] of bodies.entries()) {
      const sinceBlock = (performance.now() - blockAt) % blockMs
      await sleep(blockMs - sinceBlock + (blockMs * (index + 0.5)) / bodies.length)
      results.push(await send(url, [body], { concurrency: 1 }))
    }
    return {
      seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
      latenciesMs: results.flatMap(({ latenciesMs }) => latenciesMs),
      answeredMs: [],
      payers: results.flatMap(({ payers }) => payers),
      failures: Object.assign({}, ...results.map(({ failures }) => failures)),
    }
  }

  return {
    async row(facilitator: Facilitator, ask: Ask): Promise<Row> {
      const payments = await facilitator.makePayments(ask.payments)
      return measured(
        facilitator,
        ask,
        payments.map(({ body }) => body),
      )
    },

    async duplicates(facilitator: Facilitator): Promise<Duplicates> {
      const [{ body, payer } = { body: '', payer: '' }] = await facilitator.makePayments(1)
      const fromBlock = (await chain.read.getBlockNumber()) + 1n
      const ask: Ask = { step: 'settle', payments: identical, pace: { concurrency: identical } }
      const { failures, reverted } = await measured(facilitator, ask, Array(identical).fill(body))
      const transfers = (await chain.payersSince(facilitator.token, fromBlock)).filter(
        (from) => from === payer.toLowerCase(),
      ).length
      return { successes: identical - failed({ failures }), transfers, reverted }
    },
  }
}

/** Waits until background work of the preparation is done, or until the limit. */
async function untilIdle(pid: number): Promise<void> {
  for (let polls = 0; polls < limits.idlePollsMax; polls++) {
    const before = cpuMs(pid) ?? 0
    await sleep(limits.idlePollMs)
    if ((cpuMs(pid) ?? 0) - before <= limits.idlePollMs * limits.idleShare) return
  }
}
