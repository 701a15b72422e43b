/**
 * `npm run bench:daemons -- --url postgres://…`: whole settles, with their block, of one daemon on SQLite, of one on an empty
 * PostgreSQL database, and of two on that database, in turns on one chain.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { developmentRoles, type LocalNetwork, spareAccounts, startLocalNetwork } from '@svc-zerc20/devnet'
import { percentile } from '../comparison/figures.js'
import { createChainView } from '../inputs/chain-view.js'
import { fundPayers } from '../inputs/funding.js'
import { createPayers, createPermitPayments } from '../inputs/payments.js'
import type { ChainReady } from '../processes/chain.js'
import { startChild } from '../processes/child.js'
import type { LoadResult } from '../processes/load.js'
import { cpuMs } from '../processes/usage.js'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    payments: { type: 'string', default: '256' },
    'at-once': { type: 'string', default: '64' },
    rounds: { type: 'string', default: '5' },
  },
})
const { url } = values
if (url === undefined) throw new Error('--url postgres://…: the address of an empty database')
const [payments, atOnce, rounds] = [values.payments, values['at-once'], values.rounds].map(Number) as [
  number,
  number,
  number,
]
const targets = { throughput: 0.7, cpu: 1.2 }
const say = (line: string) => process.stdout.write(`${line}\n`)
const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0

const closers: (() => unknown)[] = []
const config = {
  zerc20: { pow_bits: 8, pool_size: 64 },
  settlement: { challenge_ttl_seconds: 3600 },
  daemon: { max_open_challenges: 100_000 },
}

/** One more daemon with the configuration and the keys of this network. */
async function startAnother(
  { configFile, adminToken }: LocalNetwork,
  relayer: string,
): Promise<{ url: string; pid: number }> {
  const file = configFile.replace(/\.toml$/, '.second.toml')
  writeFileSync(file, readFileSync(configFile, 'utf8').replace(/^port = .*$/m, 'port = 0'))
  const command = fileURLToPath(
    new URL('../../../../packages/facilitator/bin/svc-facilitator.mjs', import.meta.url),
  )
  const child: ChildProcess = spawn(process.execPath, [command, 'start', '--config', file], {
    env: {
      PATH: process.env.PATH ?? '',
      SVC_TREASURY_PK: developmentRoles.treasury.privateKey,
      SVC_RELAYER_PK: relayer,
      SVC_ADMIN_TOKEN: adminToken,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  closers.push(() => child.kill('SIGTERM'))
  if (!child.stdout) throw new Error('no output')
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    const told = JSON.parse(line) as { event?: string; url?: string }
    if (told.event !== 'facilitator.ready' || told.url === undefined) continue
    // Whatever it writes from now on is read and dropped, so that it never waits for us.
    child.stdout.resume()
    return { url: told.url, pid: child.pid ?? 0 }
  }
  throw new Error('the second daemon did not start')
}

type Run = {
  readonly perSecond: number
  readonly cpuMs: number
  readonly p50Ms: number
  readonly failed: number
}

async function bench(): Promise<void> {
  const chainProcess = await startChild<ChainReady>({ module: 'chain', env: { BLOCK_MS: '1000' } })
  closers.push(() => chainProcess.stop())
  const { rpcUrl } = chainProcess.ready
  const chain = createChainView(rpcUrl)
  const [forEmbedded] = spareAccounts
  const embedded = await startLocalNetwork({
    rpcUrl,
    config,
    environment: { SVC_RELAYER_PK: forEmbedded?.privateKey ?? '' },
  })
  closers.push(() => embedded.close())
  const shared = await startLocalNetwork({
    rpcUrl,
    config: { ...config, settlement: { ...config.settlement, journal: 'none' }, storage: { url } },
  })
  closers.push(() => shared.close())
  const second = await startAnother(shared, developmentRoles.relayer.privateKey)
  const payers = createPayers(payments)
  const loads = await Promise.all([
    startChild<object>({ module: 'load' }),
    startChild<object>({ module: 'load' }),
  ])
  closers.push(...loads.map((load) => () => load.stop()))

  const makersOf = async (network: LocalNetwork) => {
    const addresses = payers.map(({ address }) => address)
    const { deployment, facilitatorUrl } = network
    await fundPayers({ rpcUrl, chain, token: deployment.token, payers: addresses })
    return createPermitPayments({ facilitatorUrl, chain, deployment, payers })
  }
  const [makeEmbedded, makeShared] = [await makersOf(embedded), await makersOf(shared)]

  async function run(
    make: typeof makeShared,
    urls: readonly string[],
    pids: readonly number[],
  ): Promise<Run> {
    const bodies = (await make(payments)).map(({ body }) => body)
    const used = () => pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0)
    const before = used()
    const startedAt = performance.now()
    const results = await Promise.all(
      urls.map((base, i) =>
        loads[i]?.ask<LoadResult>({
          url: `${base}/settle`,
          bodies: bodies.filter((_, n) => n % urls.length === i),
          concurrency: Math.ceil(atOnce / urls.length),
        }),
      ),
    )
    const seconds = (performance.now() - startedAt) / 1000
    const succeeded = results.reduce((sum, result) => sum + (result?.succeeded ?? 0), 0)
    const latencies = results.flatMap((result) => result?.latenciesMs ?? [])
    return {
      perSecond: succeeded / seconds,
      cpuMs: (used() - before) / payments,
      p50Ms: percentile(latencies, 0.5),
      failed: payments - succeeded,
    }
  }

  const pidOf = ({ pids }: LocalNetwork) => pids.facilitator ?? 0
  const both = [pidOf(shared), second.pid]
  const kinds = {
    'SQLite, one daemon': () => run(makeEmbedded, [embedded.facilitatorUrl], [pidOf(embedded)]),
    'PostgreSQL, one of two daemons': () => run(makeShared, [shared.facilitatorUrl], both),
    'PostgreSQL, two daemons': () => run(makeShared, [shared.facilitatorUrl, second.url], both),
  }
  const runs = Object.keys(kinds).map((): Run[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, measure] of Object.values(kinds).entries()) {
      const measured = await measure()
      // The first round warms up.
      if (round > 0) runs[i]?.push(measured)
    }
  }
  say(`${payments} settles a run, ${atOnce} at once, blocks of a second; load ${loadavg()[0]?.toFixed(1)}`)
  const medians = runs.map((each) => ({
    perSecond: median(each.map((run) => run.perSecond)),
    cpuMs: median(each.map((run) => run.cpuMs)),
    p50Ms: median(each.map((run) => run.p50Ms)),
    failed: each.reduce((sum, run) => sum + run.failed, 0),
  }))
  for (const [i, name] of Object.keys(kinds).entries()) {
    const { perSecond, cpuMs, p50Ms, failed } = medians[i] ?? { perSecond: 0, cpuMs: 0, p50Ms: 0, failed: 0 }
    const each = runs[i]?.map((run) => run.perSecond.toFixed(0)).join(', ')
    say(
      `  ${name.padEnd(32)} ${perSecond.toFixed(0).padStart(4)} a second (${each}), p50 ${p50Ms.toFixed(0)} ms, CPU ${cpuMs.toFixed(1)} ms a settle, ${failed} failed`,
    )
  }
  const [sqlite, one, two] = medians
  if (!sqlite || !one || !two) return
  const verdict = (isReached: boolean, what: string) => say(`${isReached ? 'reached' : 'MISSED '}  ${what}`)
  const throughput = one.perSecond / sqlite.perSecond
  const cpu = two.cpuMs / one.cpuMs
  verdict(
    throughput >= targets.throughput,
    `one daemon on PostgreSQL accepts ${throughput.toFixed(2)} × of SQLite (at least ${targets.throughput})`,
  )
  verdict(
    cpu <= targets.cpu,
    `two daemons use ${cpu.toFixed(2)} × the processor time a settle of one (at most ${targets.cpu})`,
  )
}

try {
  await bench()
} finally {
  for (const closer of closers.splice(0).reverse()) await closer()
}
