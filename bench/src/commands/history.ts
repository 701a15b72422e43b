/**
 * `npm run bench:history`: compares the ledger with and without a payment history, asks the daemon for a large one, and
 * compares its start with and without it.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { developmentRoles, type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { getContractAddress } from 'viem'
import { percentile } from '../comparison/figures.js'
import { writeHistory } from '../inputs/history.js'
import { askAll, exportAll, slowest } from '../processes/history-asker.js'
import { type LedgerRun, runLedger } from '../processes/ledger-load.js'
import { cpuMs, residentMemory } from '../processes/usage.js'

/** Time for the pool of addresses to be filled and for idle threads to end. */
const settleSeconds = 20
const paymentsEach = 30
const targets = { pageMs: 50, totalsMs: 500, startMs: 1_000, ownBytes: 150e6 }
const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '7' },
  },
})

const say = (line: string) => process.stdout.write(`${line}\n`)
const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
const verdict = (isReached: boolean, what: string) => say(`${isReached ? 'reached' : 'MISSED '}  ${what}`)
const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0

const perSecond = ({ payments, seconds }: LedgerRun) => payments / seconds

const { deployer, treasury, payer, provider } = developmentRoles
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-history-'))
const path = join(directory, 'history.jsonl')
const environment = {
  PAYMENT_HISTORY_PATH: path,
  HISTORY_IDENTITY_SECRET: randomBytes(32).toString('hex'),
  HISTORY_PAYER_TENANT: 'bench-payer',
  HISTORY_PAYER_ACTOR: 'payer',
  HISTORY_PROVIDER_TENANT: 'bench-provider',
  HISTORY_PROVIDER_ACTOR: 'provider',
  HISTORY_PAYER_ADDRESS: payer.address,
  HISTORY_PROVIDER_ADDRESS: provider.address,
}

/** Rounds by turns, because a disk that others use is twice as fast in one second as in the next. */
async function compareLedgers(atOnce: number): Promise<void> {
  const runs = { without: [] as LedgerRun[], with: [] as LedgerRun[] }
  for (let i = 0; i < Number(values.rounds); i++) {
    for (const kind of ['without', 'with'] as const) {
      const folder = mkdtempSync(join(directory, 'ledger-'))
      const plan = { withHistory: kind === 'with', payments: paymentsEach * atOnce, atOnce }
      runs[kind].push(await runLedger(folder, plan))
      rmSync(folder, { recursive: true })
    }
  }
  const rates = { without: runs.without.map(perSecond), with: runs.with.map(perSecond) }
  for (const kind of ['without', 'with'] as const) {
    const stepsMs = runs[kind].flatMap((run) => run.stepsMs)
    const [p50, p99] = [percentile(stepsMs, 0.5).toFixed(1), percentile(stepsMs, 0.99).toFixed(0)]
    const each = rates[kind].map((rate) => rate.toFixed(0)).join(', ')
    say(
      `  ${`${atOnce}`.padStart(3)} at once, ${kind.padEnd(7)} history: ${median(rates[kind]).toFixed(0).padStart(4)} payments/s, ` +
        `step p50 ${p50} ms, p99 ${p99} ms  (${each})`,
    )
  }
  const shares = rates.with.map((rate, i) => rate / (rates.without[i] ?? Number.NaN))
  say(
    `  ${`${atOnce}`.padStart(3)} at once, with history ${median(shares).toFixed(2)} of the payments without`,
  )
}

type Started = { readonly network: LocalNetwork; readonly readyMs: number }

/** The chain and the journal are new each time; the history stays. */
async function start(kind: 'with' | 'without'): Promise<Started> {
  let startedAt = 0
  const network = await startLocalNetwork({
    // Tokens name this address, whatever port is free.
    config: { history: { url: 'http://history.localhost' } },
    ...(kind === 'with' && { environment }),
    // The daemon is the last part to start, so its start begins at the last line before it is ready.
    say: (line) => {
      if (!line.startsWith('facilitator')) startedAt = performance.now()
    },
  })
  return { network, readyMs: performance.now() - startedAt }
}

const memoryOf = ({ pids }: LocalNetwork) => residentMemory(pids.facilitator ?? 0)

function writeFiles(): void {
  const payments = writeHistory(path, {
    records: Number(values.records),
    nowSeconds: Math.floor(Date.now() / 1000),
    days: 90,
    treasury: treasury.address.toLowerCase(),
    payer: payer.address.toLowerCase(),
    fileBytesMax: 64 * 1024 ** 2,
    // The token is the first contract of a fresh devnet.
    binding: {
      chainId: 31_337,
      token: getContractAddress({ from: deployer.address, nonce: 0n }).toLowerCase(),
    },
  })
  const files = readdirSync(directory).filter((name) => name.startsWith('history.jsonl'))
  const size = files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  say(`${values.records} records of ${payments} payments, ${files.length} files, ${megabytes(size)}`)
}

/** Starts by turns, so that a busy minute of the machine meets both. */
async function compareStarts(): Promise<void> {
  const ready = { with: [] as number[], without: [] as number[] }
  for (let i = 0; i < Number(values.starts); i++) {
    for (const kind of ['without', 'with'] as const) {
      const { network, readyMs } = await start(kind)
      ready[kind].push(readyMs)
      await network.close()
    }
  }
  const more = median(ready.with) - median(ready.without)
  say(`start without history ${ready.without.map(seconds).join(', ')}`)
  say(`start with history    ${ready.with.map(seconds).join(', ')}`)
  verdict(more < targets.startMs, `the start takes ${seconds(more)} longer with history (below 1 s)`)
}

async function askDaemon(): Promise<void> {
  const bare = await start('without')
  const without = memoryOf(bare.network)
  await bare.network.close()
  const { network } = await start('with')
  try {
    const ready = memoryOf(network)
    await new Promise((resolve) => setTimeout(resolve, settleSeconds * 1000))
    say(
      `first pages and totals; load of the machine ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`,
    )
    const cpuBefore = cpuMs(network.pids.facilitator ?? 0) ?? 0
    const answers = [
      ...(await askAll(network, environment, 'provider')),
      ...(await askAll(network, environment, 'payer')),
    ]
    for (const { name, ms, found } of answers) {
      const [first = 0, ...again] = ms
      say(
        `  ${name.padEnd(44)} ${first.toFixed(1).padStart(7)} ms, again ${median(again).toFixed(1).padStart(6)} ms  ${found}`,
      )
    }
    const asked = memoryOf(network)
    const cpu =
      ((cpuMs(network.pids.facilitator ?? 0) ?? 0) - cpuBefore) / answers.flatMap(({ ms }) => ms).length
    say(`  processor time of the daemon for one of these answers: ${cpu.toFixed(1)} ms`)
    const exported = await exportAll(network, environment)
    const last = memoryOf(network)
    say(`  export of ${exported.payments} payments, ${megabytes(exported.bytes)}: ${seconds(exported.ms)}`)
    const page = slowest(answers.filter(({ kind }) => kind === 'page'))
    const totals = slowest(answers.filter(({ kind }) => kind === 'totals'))
    verdict(
      page.ms < targets.pageMs,
      `slowest first page ${page.ms.toFixed(1)} ms: ${page.name} (below 50 ms)`,
    )
    verdict(
      totals.ms < targets.totalsMs,
      `slowest totals of a month ${totals.ms.toFixed(1)} ms: ${totals.name} (below 500 ms)`,
    )
    say(
      `RSS ${megabytes(without.rssBytes)} without history; with it ${megabytes(ready.rssBytes)} when ready, ${megabytes(asked.rssBytes)} after the questions, ${megabytes(last.rssBytes)} after the export`,
    )
    say(`highest RSS ${megabytes(last.rssPeakBytes)}, with the files that are mapped into memory`)
    const more = (last.ownBytes ?? 0) - (without.ownBytes ?? 0)
    verdict(
      more < targets.ownBytes,
      `without mapped files ${megabytes(last.ownBytes)}, ${megabytes(more)} more than without history (below 150 MB)`,
    )
  } finally {
    await network.close()
  }
}

async function makeIndex(): Promise<void> {
  const { network, readyMs } = await start('with')
  const peak = megabytes(memoryOf(network).rssPeakBytes)
  say(`first start, which makes the index: ${seconds(readyMs)}, highest RSS ${peak}`)
  await network.close()
}

try {
  if (Number(values.rounds) > 0) {
    say(`the ledger, without a chain; a step is an issue, an acceptance or a mint`)
    await compareLedgers(8)
    await compareLedgers(100)
  }
  if (Number(values.records) > 0) {
    writeFiles()
    await makeIndex()
    await compareStarts()
    await askDaemon()
  }
} finally {
  if (existsSync(directory)) rmSync(directory, { recursive: true })
}
