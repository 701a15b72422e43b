/** `npm run bench`: measures three facilitators on one chain, in turns, and prints the figures. */
import { mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createArrivals, renderArrivals } from '../comparison/arrivals.js'
import { buyingRatio, measurePurchases, purchaseLine } from '../comparison/buying.js'
import {
  type Closer,
  type Contestant,
  type ContestantName,
  startContestants,
} from '../comparison/contestants.js'
import { type Figures, poolCells } from '../comparison/figures.js'
import { type Cell, createMeasure, type Duplicates, type Measure } from '../comparison/measure.js'
import { fullPlan, type Plan, payersNeeded, quickPlan } from '../comparison/plan.js'
import { benchPage } from '../comparison/report.js'
import { type AllFigures, renderTable } from '../comparison/table.js'
import { buyingTarget, limitTargets, ratiosOf, targetsOf } from '../comparison/verdict.js'
import { createChainView } from '../inputs/chain-view.js'
import type { ChainReady } from '../processes/chain.js'
import { startChild } from '../processes/child.js'
import { residentMemory } from '../processes/usage.js'
import { say } from '../say.js'

const blockMs = 1000
const resultFile = fileURLToPath(new URL('../../results/latest.json', import.meta.url))
const pageFile = fileURLToPath(new URL('../../results/latest.html', import.meta.url))

type Records = Readonly<Record<ContestantName, { cells: Cell[]; duplicates: Duplicates[] }>>

const verdict = (met: boolean | undefined) =>
  met === undefined ? 'not judged' : met ? 'reached   ' : 'MISSED    '

/** All contestants, in rotated order, so that none always goes first. */
function inTurn(contestants: readonly Contestant[], turn: number): Contestant[] {
  const first = turn % contestants.length
  return [...contestants.slice(first), ...contestants.slice(0, first)]
}

async function runPlan(plan: Plan, contestants: readonly Contestant[], measure: Measure): Promise<Records> {
  const records: Records = {
    ours: { cells: [], duplicates: [] },
    example: { cells: [], duplicates: [] },
    tuned: { cells: [], duplicates: [] },
  }
  let turn = 0
  for (const contestant of contestants) {
    say(`warming up ${contestant.name}`)
    await measure.cell(contestant, 'verify', plan.warmUpPayments, plan.warmUpPayments)
    await measure.cell(contestant, 'settle', plan.warmUpPayments, plan.warmUpPayments)
    await measure.settlesAlone(contestant, plan.warmUpAlone)
  }
  for (let round = 1; round <= plan.rounds; round++) {
    for (const step of ['verify', 'settle'] as const) {
      for (const { concurrency, payments } of plan[step]) {
        say(`round ${round} of ${plan.rounds}: ${step}, ${payments} payments each, ${concurrency} at a time`)
        for (const contestant of inTurn(contestants, turn++)) {
          const isAlone = step === 'settle' && concurrency === 1
          const cells = isAlone
            ? await measure.settlesAlone(contestant, payments)
            : [await measure.cell(contestant, step, payments, concurrency)]
          records[contestant.name].cells.push(...cells)
        }
      }
    }
  }
  for (let trial = 1; trial <= plan.duplicateTrials; trial++) {
    say(`trial ${trial} of ${plan.duplicateTrials}: one payment, 16 times at once`)
    for (const contestant of inTurn(contestants, turn++)) {
      records[contestant.name].duplicates.push(await measure.duplicates(contestant))
    }
  }
  return records
}

function figuresOf({ name, pid }: Contestant, records: Records): Figures {
  const { cells, duplicates } = records[name]
  return {
    verify: poolCells(cells, 'verify'),
    settle: poolCells(cells, 'settle'),
    duplicates,
    ...residentMemory(pid),
  }
}

async function bench(plan: Plan, mode: string, closers: Closer[]): Promise<void> {
  const startedAtMs = Date.now()
  const machine = { cores: os.cpus().length, cpu: os.cpus()[0]?.model ?? 'unknown', node: process.version }
  say(`${mode} run on ${machine.cores} cores (${machine.cpu}), Node ${machine.node}`)
  say(`One chain with a block every ${blockMs} ms for everyone; a settle waits for its block.`)
  say('Machines are noisy: only the ratios of one run count, never the figures of two.\n')

  const chainProcess = await startChild<ChainReady>({
    module: 'chain',
    env: { BLOCK_MS: `${blockMs}` },
  })
  closers.push(() => chainProcess.stop())
  const { rpcUrl } = chainProcess.ready
  const chain = createChainView(rpcUrl)
  const payerCount = payersNeeded(plan)
  say(`starting the facilitators and funding ${payerCount} payers …`)
  const { contestants, buyers } = await startContestants({
    rpcUrl,
    chain,
    blockMs,
    payerCount,
    now: Date.now,
    closers,
  })
  const load = await startChild<object>({ module: 'load' })
  closers.push(() => load.stop())

  const records = await runPlan(
    plan,
    Object.values(contestants),
    createMeasure({ chain, chainPid: chainProcess.pid, blockMs, load }),
  )
  const measureArrivals = createArrivals({ load, chain, blockMs, plan: plan.arrivals, say })
  const limits = await measureArrivals(contestants.ours, contestants.tuned)
  say(`${plan.purchases} purchases each, by command`)
  const purchases = await measurePurchases(buyers.svcPay, buyers.official, plan.purchases)
  const figures: AllFigures = {
    ours: figuresOf(contestants.ours, records),
    example: figuresOf(contestants.example, records),
    tuned: figuresOf(contestants.tuned, records),
  }
  const ratios = ratiosOf(figures.ours, figures.tuned)
  const targets = [
    ...targetsOf(figures.ours, figures.tuned, plan),
    ...limitTargets(limits),
    buyingTarget(buyingRatio(purchases)),
  ]
  const tookSeconds = Math.round((Date.now() - startedAtMs) / 1000)
  say(`\n${renderTable(figures)}\n\n${renderArrivals(limits)}\n\n${purchaseLine(purchases)}\n`)
  for (const { name, reached, met } of targets) say(`${verdict(met)}  ${name}: ${reached}`)

  mkdirSync(fileURLToPath(new URL('../../results/', import.meta.url)), { recursive: true })
  const result = {
    startedAt: new Date(startedAtMs).toISOString(),
    mode,
    tookSeconds,
    machine,
    blockMs,
    figures,
    limits,
    purchases,
    ratios,
    targets,
  }
  writeFileSync(resultFile, `${JSON.stringify(result, undefined, 2)}\n`)
  const about = `A ${mode} run of ${tookSeconds} s on ${machine.cores} cores (${machine.cpu}), Node ${machine.node}.`
  writeFileSync(pageFile, benchPage({ about, records, figures, purchases, targets }))
  say(`\nTook ${tookSeconds} s. All figures: tools/bench/results/latest.json`)
  say('The same as charts, for a browser: tools/bench/results/latest.html')
}

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const closers: Closer[] = []
const closeAll = async () => {
  for (const closer of closers.splice(0).reverse()) await closer()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void closeAll().then(() => process.exit(1)))
}
try {
  await bench(quick ? quickPlan : fullPlan, quick ? 'quick' : 'full', closers)
} finally {
  await closeAll()
}
