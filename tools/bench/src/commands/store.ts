/**
 * `npm run bench:store`: payments a second through the ledger alone, then a daemon on a large ledger: its start, its memory,
 * and what its history answers.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { developmentRoles, type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { deriveSeed } from '@svc-zerc20/zk'
import { getContractAddress, hexToBytes } from 'viem'
import { percentile } from '../comparison/figures.js'
import { askAll, exportAll, slowest } from '../processes/history-asker.js'
import { type LedgerRun, runLedger } from '../processes/ledger-load.js'
import { type BenchServer, type ServerFigures, startServer } from '../processes/postgres.js'
import { cpuMs, residentMemory } from '../processes/usage.js'
import { judge, median, say, seconds } from '../say.js'

/** Time for the pool of addresses to be filled and for idle threads to end. */
const settleSeconds = 20
const paymentsEach = 30
/** Payers at once while the large ledger is filled. */
const fillers = 500
const targets = { pageMs: 50, totalsMs: 500, startMs: 1_500, rssBytes: 200e6 }
const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '100000' },
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '7' },
    postgres: { type: 'boolean', default: false },
  },
})

const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`

const perSecond = ({ payments, seconds }: LedgerRun) => payments / seconds

const { deployer, treasury, payer, provider } = developmentRoles
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-store-'))
const journal = join(directory, 'large.jsonl')
const environment = {
  PAYMENT_HISTORY_PATH: join(directory, 'history.jsonl'),
  HISTORY_IDENTITY_SECRET: randomBytes(32).toString('hex'),
  HISTORY_PAYER_TENANT: 'bench-payer',
  HISTORY_PAYER_ACTOR: 'payer',
  HISTORY_PROVIDER_TENANT: 'bench-provider',
  HISTORY_PROVIDER_ACTOR: 'provider',
  HISTORY_PAYER_ADDRESS: payer.address,
  HISTORY_PROVIDER_ADDRESS: provider.address,
}

/** By turns, where there is a server: the machine is as busy for the one as for the other. */
async function measureLedger(atOnce: number, server: BenchServer | undefined): Promise<void> {
  const runs: LedgerRun[] = []
  const onServer: (LedgerRun & { readonly figures: ServerFigures; readonly bytes: number })[] = []
  const plan = { payments: paymentsEach * atOnce, atOnce }
  for (let i = 0; i < Number(values.rounds); i++) {
    const folder = mkdtempSync(join(directory, 'ledger-'))
    runs.push(await runLedger(join(folder, 'journal.jsonl'), plan))
    rmSync(join(folder, 'history.jsonl'))
    if (server) {
      const name = `ledger_${atOnce}_${i}`
      const database = await server.create(name)
      const [before, empty] = [await server.figures(), await server.bytesOf(name)]
      const run = await runLedger(join(folder, 'server.jsonl'), { ...plan, database })
      const after = await server.figures()
      const figures = {
        statements: after.statements - before.statements,
        transactions: after.transactions - before.transactions,
        walBytes: after.walBytes - before.walBytes,
        cpuMs: after.cpuMs - before.cpuMs,
      }
      onServer.push({ ...run, figures, bytes: (await server.bytesOf(name)) - empty })
    }
    rmSync(folder, { recursive: true })
  }
  tellRuns(server ? 'SQLite' : 'ledger', atOnce, runs)
  if (onServer.length === 0) return
  tellRuns('PostgreSQL', atOnce, onServer)
  const each = (figure: (run: (typeof onServer)[number]) => number) =>
    median(onServer.map((run) => figure(run) / run.payments))
  say(
    `    of a payment on the server: ${each(({ figures }) => figures.statements).toFixed(1)} statements, ` +
      `${each(({ figures }) => figures.transactions).toFixed(2)} transactions, ` +
      `${(each(({ figures }) => figures.walBytes) / 1000).toFixed(1)} KB of WAL, ${(each(({ bytes }) => bytes) / 1000).toFixed(1)} KB of tables, ` +
      `${each(({ figures }) => figures.cpuMs).toFixed(2)} ms of its processor`,
  )
  const ratio = median(onServer.map((run, i) => perSecond(run) / perSecond(runs[i] ?? run)))
  say(`    PostgreSQL takes ${ratio.toFixed(2)} times the payments of SQLite in the same rounds`)
}

function tellRuns(engine: string, atOnce: number, runs: readonly LedgerRun[]): void {
  const rates = runs.map(perSecond)
  const stepsMs = runs.flatMap((run) => run.stepsMs)
  const [p50, p99] = [percentile(stepsMs, 0.5).toFixed(1), percentile(stepsMs, 0.99).toFixed(0)]
  const each = rates.map((rate) => rate.toFixed(0)).join(', ')
  say(
    `  ${engine.padEnd(10)} ${`${atOnce}`.padStart(3)} at once: ${median(rates).toFixed(0).padStart(4)} payments/s, step p50 ${p50} ms, p99 ${p99} ms, ${median(runs.map(({ cpuMs: spent, payments }) => spent / payments)).toFixed(2)} ms of processor a payment  (${each})`,
  )
}

/** The ledger of a devnet that does not run yet. */
async function fill(): Promise<void> {
  const plan = { payments: Number(values.payments), atOnce: fillers }
  const run = await runLedger(journal, plan, {
    // The token is the first contract of a fresh devnet.
    token: getContractAddress({ from: deployer.address, nonce: 0n }),
    treasury: treasury.address,
    payer: payer.address,
    seed: deriveSeed(hexToBytes(treasury.privateKey)),
  })
  const { size } = statSync(`${journal}.db`)
  say(`${run.payments} payments, minted, in ${run.seconds.toFixed(0)} s: ${megabytes(size)} of database`)
}

type Started = { readonly network: LocalNetwork; readonly readyMs: number }

/** The chain is new each time; the ledger stays. */
async function start(): Promise<Started> {
  let startedAt = 0
  const network = await startLocalNetwork({
    // Tokens name this address, whatever port is free.
    config: { history: { url: 'http://history.localhost' }, settlement: { journal, reorg_watch_blocks: 0 } },
    environment,
    // The daemon is the last part to start, so its start begins at the last line before it is ready.
    say: (line) => {
      if (!line.startsWith('facilitator')) startedAt = performance.now()
    },
  })
  return { network, readyMs: performance.now() - startedAt }
}

const memoryOf = ({ pids }: LocalNetwork) => residentMemory(pids.facilitator ?? 0)

async function measureStarts(): Promise<void> {
  const ready: number[] = []
  for (let i = 0; i < Number(values.starts); i++) {
    const { network, readyMs } = await start()
    ready.push(readyMs)
    await network.close()
  }
  say(`starts ${ready.map(seconds).join(', ')}`)
  judge(median(ready) < targets.startMs, `a start takes ${seconds(median(ready))} (below 1.5 s)`)
}

async function askDaemon(): Promise<void> {
  const { network } = await start()
  try {
    const ready = memoryOf(network)
    judge(
      (ready.rssBytes ?? 0) < targets.rssBytes,
      `RSS ${megabytes(ready.rssBytes)} when ready (below 200 MB)`,
    )
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
    judge(page.ms < targets.pageMs, `slowest first page ${page.ms.toFixed(1)} ms: ${page.name} (below 50 ms)`)
    judge(
      totals.ms < targets.totalsMs,
      `slowest totals of a month ${totals.ms.toFixed(1)} ms: ${totals.name} (below 500 ms)`,
    )
    say(
      `RSS ${megabytes(asked.rssBytes)} after the questions, ${megabytes(last.rssBytes)} after the export, highest ${megabytes(last.rssPeakBytes)}`,
    )
  } finally {
    await network.close()
  }
}

try {
  if (Number(values.rounds) > 0) {
    say('the ledger with a history, without a chain; a step is an issue, an acceptance or a mint')
    const server = values.postgres ? await startServer() : undefined
    try {
      await measureLedger(1, server)
      await measureLedger(8, server)
      await measureLedger(100, server)
    } finally {
      await server?.close()
    }
  }
  if (Number(values.payments) > 0) {
    await fill()
    await measureStarts()
    await askDaemon()
  }
} finally {
  if (existsSync(directory)) rmSync(directory, { recursive: true })
}
