/** `npm run bench`: our facilitator and the official reference on one chain, by turns; prints the figures and the targets. */
import { mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createChainView } from '../inputs/chain-view.js'
import { type Closer, type Facilitator, startFacilitators } from '../measure/facilitators.js'
import { type Ask, createMeasure, type Duplicates, failed, type Row, type Step } from '../measure/rows.js'
import type { ChainReady } from '../processes/chain.js'
import { startChild } from '../processes/child.js'
import { peakBytes } from '../processes/usage.js'
import { explain, judge, say } from '../say.js'

const blockMs = 1000
const resultFile = fileURLToPath(new URL('../../results/latest.json', import.meta.url))
/** Of the most that ours accepted. */
const overloadTimes = 3
/** Nobody accepts more of our payments in a second, so that there is a payer for each of them. */
const acceptedPerSecondMax = 450

type Plan = {
  readonly verify: readonly (readonly [concurrency: number, payments: number])[]
  /** With a block a second, n at a time are at most n a second: only many at a time show the limit. */
  readonly settle: readonly (readonly [concurrency: number, payments: number])[]
  readonly settlesAlone: number
  /** Payments a second, ascending, and how long each is offered; then too much, for so long. */
  readonly steady: readonly number[]
  readonly steadySeconds: number
  readonly overloadSeconds: number
  readonly warmUp: number
  readonly duplicateTrials: number
}

const plans: Readonly<Record<'full' | 'quick', Plan>> = {
  full: {
    verify: [
      [1, 256],
      [8, 1024],
      [32, 1024],
      [64, 1024],
    ],
    settle: [
      [8, 48],
      [32, 192],
      [128, 512],
      [512, 2048],
    ],
    settlesAlone: 8,
    steady: [50, 150, 250, 350],
    steadySeconds: 8,
    overloadSeconds: 5,
    warmUp: 64,
    duplicateTrials: 3,
  },
  quick: {
    verify: [
      [1, 24],
      [32, 64],
    ],
    settle: [
      [8, 8],
      [32, 32],
      [512, 1024],
    ],
    settlesAlone: 4,
    steady: [50, 150],
    steadySeconds: 4,
    overloadSeconds: 3,
    warmUp: 32,
    duplicateTrials: 1,
  },
}

const payersNeeded = ({ verify, settle, steady, steadySeconds, overloadSeconds, warmUp }: Plan): number =>
  Math.max(
    warmUp,
    ...[...verify, ...settle].map(([, payments]) => payments),
    ...steady.map((perSecond) => perSecond * steadySeconds),
    overloadTimes * acceptedPerSecondMax * overloadSeconds,
  )

/** What both were asked in the same way. Of a rate that the reference does not sustain, the next one is not asked of it. */
type Pair = { readonly title: string; readonly ours: Row; readonly reference?: Row }

/** Most people wait no longer. */
const p99MsMax = 4_500
const isSustained = (row: Row) => failed(row) === 0 && row.p99Ms < p99MsMax

async function measureAll(
  plan: Plan,
  [ours, reference]: readonly [Facilitator, Facilitator],
  measure: ReturnType<typeof createMeasure>,
) {
  const pairs: Pair[] = []
  let turn = 0

  async function pair(title: string, ask: Ask, withReference = true): Promise<Pair> {
    say(`${title}, ${ask.payments} payments`)
    const rows = new Map<Facilitator, Row>()
    const order = turn++ % 2 === 0 ? [ours, reference] : [reference, ours]
    for (const each of order) {
      if (each === ours || withReference) rows.set(each, await measure.row(each, ask))
    }
    const [own, other] = [rows.get(ours), rows.get(reference)]
    if (!own) throw new Error('ours was not measured')
    const made = { title, ours: own, ...(other && { reference: other }) }
    pairs.push(made)
    return made
  }

  say('warming up')
  for (const each of [ours, reference]) {
    for (const step of ['verify', 'settle'] as const) {
      await measure.row(each, { step, payments: plan.warmUp, pace: { concurrency: plan.warmUp } })
    }
    await measure.row(each, { step: 'settle', payments: 4, pace: 'alone' })
  }
  for (const [concurrency, payments] of plan.verify) {
    await pair(titles.atATime('verify', concurrency), { step: 'verify', payments, pace: { concurrency } })
  }
  await pair(titles.alone, { step: 'settle', payments: plan.settlesAlone, pace: 'alone' })
  for (const [concurrency, payments] of plan.settle) {
    await pair(titles.atATime('settle', concurrency), { step: 'settle', payments, pace: { concurrency } })
  }
  let referenceSustains = true
  for (const perSecond of plan.steady) {
    const payments = perSecond * plan.steadySeconds
    const ask: Ask = { step: 'settle', payments, pace: { perSecond } }
    const row = await pair(titles.steady(perSecond), ask, referenceSustains)
    referenceSustains &&= row.reference !== undefined && isSustained(row.reference)
  }
  const best = Math.max(
    ...pairs.filter(({ title }) => title.endsWith('a second')).map((row) => row.ours.perSecond),
  )
  const tooMuch = Math.round(overloadTimes * best)
  await pair(
    titles.tooMuch,
    { step: 'settle', payments: tooMuch * plan.overloadSeconds, pace: { perSecond: tooMuch } },
    false,
  )
  const duplicates: Duplicates[] = []
  for (let trial = 0; trial < plan.duplicateTrials; trial++) duplicates.push(await measure.duplicates(ours))
  return { pairs, duplicates, best }
}

const titles = {
  alone: 'settle, alone',
  atATime: (step: Step, count: number) => `${step}, ${count} at a time`,
  steady: (perSecond: number) => `settle, ${perSecond} a second`,
  tooMuch: `settle, ${overloadTimes} times too much`,
}

const head = ['', '', '1/s', 'p50 ms', 'p99 ms', 'failed', 'CPU ms', 'node ms', 'RPC', 'gas', 'lost']
const widths = [26, 11, 7, 8, 8, 8, 8, 8, 7, 8, 5]

function printTable(pairs: readonly Pair[]): void {
  const line = (cells: readonly string[]) =>
    say(
      cells
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join(''),
    )
  const print = (title: string, name: string, row: Row) => {
    const number = (value: number | undefined, digits = 0) => value?.toFixed(digits) ?? '–'
    const { perSecond, p50Ms, p99Ms, facilitatorCpuMs, nodeCpuMs, rpcCalls, gas, lost } = row
    const times = [number(perSecond), number(p50Ms, 1), number(p99Ms, 1), `${failed(row)}`]
    const costs = [
      number(facilitatorCpuMs, 2),
      number(nodeCpuMs, 2),
      number(rpcCalls, 2),
      number(gas),
      `${lost}`,
    ]
    line([title, name, ...times, ...costs])
    for (const [reason, count] of Object.entries(row.failures)) say(`${''.padEnd(37)}${count} ${reason}`)
  }
  say('\nprocessor time, RPC calls and gas are of one payment\n')
  line(head)
  for (const { title, ours, reference } of pairs) {
    print(title, 'svc-zerc20', ours)
    if (reference) print('', 'reference', reference)
  }
}

function judgeAll(pairs: readonly Pair[], duplicates: readonly Duplicates[], best: number): void {
  const at = (title: string) => pairs.find((pair) => pair.title === title)
  const most = (step: Step, of: (pair: Pair) => Row | undefined) =>
    Math.max(
      ...pairs
        .filter(({ title }) => title.startsWith(step) && title.endsWith('time'))
        .map((pair) => of(pair)?.perSecond ?? 0),
    )
  const ratio = (step: Step) => most(step, ({ ours }) => ours) / most(step, ({ reference }) => reference)
  const atMost = (target: string, value: number | undefined, max: number, unit: string) =>
    judge(
      `${target} ≤ ${max}${unit}`,
      value === undefined ? 'not offered' : `${value.toFixed(2)}${unit}`,
      value === undefined ? undefined : value <= max,
    )
  say('')
  judge(
    'verify, the most a second, ≥ 7 × the reference',
    `${ratio('verify').toFixed(1)} ×`,
    ratio('verify') >= 7,
  )
  judge(
    'settle, the most a second, ≥ 5 × the reference',
    `${ratio('settle').toFixed(1)} ×`,
    ratio('settle') >= 5,
  )
  const [verify, alone] = [at(titles.atATime('verify', 1)), at(titles.alone)]
  atMost(
    'verify, 1 at a time, p50 against the reference',
    verify?.reference && verify.ours.p50Ms / verify.reference.p50Ms,
    0.3,
    ' ×',
  )
  atMost(
    'settle, alone, p50 more than the reference',
    alone?.reference && alone.ours.p50Ms - alone.reference.p50Ms,
    5,
    ' ms',
  )
  atMost('settle, alone, RPC calls', alone?.ours.rpcCalls, 12, '')
  atMost('verify, 32 at a time, CPU', at(titles.atATime('verify', 32))?.ours.facilitatorCpuMs, 1.2, ' ms')
  atMost('settle, 50 a second, CPU', at(titles.steady(50))?.ours.facilitatorCpuMs, 3.2, ' ms')
  atMost('settle, 150 a second, CPU', at(titles.steady(150))?.ours.facilitatorCpuMs, 2, ' ms')
  const held = pairs.filter(({ title }) => title !== titles.tooMuch)
  const refused = held.reduce((sum, { ours }) => sum + failed(ours), 0)
  judge('no valid payment fails, but at too much', `${refused} failed`, refused === 0)
  const tooMuch = at(titles.tooMuch)?.ours
  const { overloaded = 0, ...others } = tooMuch?.failures ?? {}
  const broken = failed({ failures: others })
  const share = (tooMuch?.perSecond ?? 0) / best
  judge(
    `${titles.tooMuch}: ≥ 0.9 of the best rate, p99 < 6 s, none lost, all others told to come back`,
    `${share.toFixed(2)}, ${tooMuch?.p99Ms.toFixed(0)} ms, ${tooMuch?.lost} lost, ${overloaded} told, ${broken} failed otherwise`,
    share >= 0.9 && (tooMuch?.p99Ms ?? Number.NaN) < 6_000 && tooMuch?.lost === 0 && broken === 0,
  )
  judge(
    '16 identical payments at once: 1 success, 1 burn, 0 reverted',
    duplicates
      .map(({ successes, transfers, reverted }) => `${successes}/${transfers}/${reverted}`)
      .join(', '),
    duplicates.every(
      ({ successes, transfers, reverted }) => successes === 1 && transfers === 1 && reverted === 0,
    ),
  )
}

async function bench(mode: 'full' | 'quick', closers: Closer[]): Promise<void> {
  const plan = plans[mode]
  const startedAtMs = Date.now()
  const machine = { cores: os.cpus().length, cpu: os.cpus()[0]?.model ?? 'unknown', node: process.version }
  say(
    `${mode} run on ${machine.cores} cores (${machine.cpu}), Node ${machine.node}, a block every ${blockMs} ms`,
  )
  say('Machines are noisy: only the ratios of one run count, never the figures of two.\n')

  const chainProcess = await startChild<ChainReady>({ module: 'chain', env: { BLOCK_MS: `${blockMs}` } })
  closers.push(() => chainProcess.stop())
  const { rpcUrl } = chainProcess.ready
  const chain = createChainView(rpcUrl)
  const payerCount = payersNeeded(plan)
  say(`starting the facilitators and funding ${payerCount} payers …`)
  const both = await startFacilitators({ rpcUrl, chain, payerCount, now: Date.now, closers })
  const measure = createMeasure({ chain, chainPid: chainProcess.pid, blockMs })
  const { pairs, duplicates, best } = await measureAll(plan, both, measure)
  printTable(pairs)
  const peaks = both.map(({ name, pid }) => `${name} ${((peakBytes(pid) ?? Number.NaN) / 1e6).toFixed(0)} MB`)
  say(`\nmemory at its peak: ${peaks.join(', ')}`)
  judgeAll(pairs, duplicates, best)
  const tookSeconds = Math.round((Date.now() - startedAtMs) / 1000)
  mkdirSync(dirname(resultFile), { recursive: true })
  writeFileSync(
    resultFile,
    `${JSON.stringify({ mode, tookSeconds, machine, blockMs, pairs, duplicates }, undefined, 2)}\n`,
  )
  say(`\nTook ${tookSeconds} s. All figures: tools/bench/results/latest.json`)
}

const { quick, help } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
}).values
if (help) {
  explain(`Usage: npm run bench -- [--quick]

Measures our facilitator beside the official reference, on one chain and in turns, for ten minutes or so. --quick takes two, and
judges less. Writes tools/bench/results/latest.json.`)
}
const closers: Closer[] = []
const closeAll = async () => {
  for (const close of closers.splice(0).reverse()) await close()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void closeAll().then(() => process.exit(1)))
}
try {
  await bench(quick ? 'quick' : 'full', closers)
} finally {
  await closeAll()
}
