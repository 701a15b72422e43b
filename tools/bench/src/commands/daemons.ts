/**
 * `npm run bench:daemons`: whole settles, with their block, of one daemon on SQLite, of one on PostgreSQL and of two on one
 * database, by turns on one chain; then the round trips of a settle alone to a database that is `--away-ms` away.
 */
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  type LocalNetwork,
  type LocalNetworkOptions,
  spareAccounts,
  startLocalNetwork,
} from '@svc-zerc20/devnet'
import { percentile } from '../comparison/figures.js'
import { createChainView } from '../inputs/chain-view.js'
import { fundPayers } from '../inputs/funding.js'
import { createPayers, createPermitPayments, type MakePayments } from '../inputs/payments.js'
import type { ChainReady } from '../processes/chain.js'
import { type Child, startChild } from '../processes/child.js'
import { type CountedWire, openCountedWire } from '../processes/counted-wire.js'
import type { LoadResult } from '../processes/load.js'
import { startServer } from '../processes/postgres.js'
import { cpuMs } from '../processes/usage.js'
import { judge, median, say } from '../say.js'

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '512' },
    'at-once': { type: 'string', default: '256' },
    rounds: { type: 'string', default: '3' },
    alone: { type: 'string', default: '20' },
    // Longer than a busy machine keeps a daemon from sending the rest of what it sends at once.
    'away-ms': { type: 'string', default: '100' },
  },
})
const numberOf = (name: keyof typeof values) => Number(values[name])
const [payments, atOnce, rounds] = [numberOf('payments'), numberOf('at-once'), numberOf('rounds')]
const targets = { throughput: 0.7, cpu: 1.2, roundTrips: 4 }

const closers: (() => unknown)[] = []
const config = {
  zerc20: { pool_size: 256 },
  settlement: { challenge_ttl_seconds: 3600 },
  daemon: { max_open_challenges: 100_000 },
}
const configOn = (url: string) => ({
  ...config,
  settlement: { ...config.settlement, journal: 'none' },
  storage: { url },
})

type Contestant = {
  readonly name: string
  readonly make: MakePayments
  readonly urls: readonly string[]
  readonly pids: readonly number[]
}

/** Networks share the chain, and nothing else: each has contracts and a relayer of its own. */
function createContestants(rpcUrl: string, payers: ReturnType<typeof createPayers>) {
  const chain = createChainView(rpcUrl)
  const relayers = [...spareAccounts]
  const processesOf = ({ facilitators, facilitatorUrl, pids }: LocalNetwork) =>
    facilitators ?? [{ url: facilitatorUrl, pid: pids.facilitator ?? 0 }]
  return async (name: string, options: LocalNetworkOptions): Promise<Contestant> => {
    const environment = { SVC_RELAYER_PK: relayers.pop()?.privateKey ?? '' }
    const network = await startLocalNetwork({ rpcUrl, config, powBits: 0, environment, ...options })
    closers.push(() => network.close())
    const { deployment, facilitatorUrl } = network
    const addresses = payers.map(({ address }) => address)
    await fundPayers({ chain, token: deployment.token, payers: addresses })
    return {
      name,
      make: createPermitPayments({ facilitatorUrl, chain, deployment, payers }),
      urls: processesOf(network).map(({ url }) => url),
      pids: processesOf(network).map(({ pid }) => pid),
    }
  }
}

type Run = {
  readonly perSecond: number
  readonly cpuMs: number
  readonly p50Ms: number
  readonly failed: number
}

/** The payments are spread evenly over the daemons. */
async function run({ make, urls, pids }: Contestant, loads: readonly Child<object>[]): Promise<Run> {
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
  return {
    perSecond: succeeded / seconds,
    cpuMs: (used() - before) / payments,
    p50Ms: percentile(
      results.flatMap((result) => result?.latenciesMs ?? []),
      0.5,
    ),
    failed: payments - succeeded,
  }
}

/** Middle of the rounds. The first round warms up. */
async function runInTurns(contestants: readonly Contestant[], loads: readonly Child<object>[]) {
  const runs = contestants.map((): Run[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const measured = await run(contestant, loads)
      if (round > 0) runs[i]?.push(measured)
    }
  }
  return runs.map((each, i) => {
    const rates = each.map(({ perSecond }) => perSecond)
    const middle: Run = {
      perSecond: median(rates),
      cpuMs: median(each.map((run) => run.cpuMs)),
      p50Ms: median(each.map((run) => run.p50Ms)),
      failed: each.reduce((sum, { failed }) => sum + failed, 0),
    }
    say(
      `  ${(contestants[i]?.name ?? '').padEnd(24)} ${middle.perSecond.toFixed(0).padStart(4)} a second (${rates.map((rate) => rate.toFixed(0)).join(', ')}), p50 ${middle.p50Ms.toFixed(0)} ms, CPU ${middle.cpuMs.toFixed(1)} ms a settle, ${middle.failed} failed`,
    )
    return middle
  })
}

/** The event that is recorded behind the answer. */
const behindAnswer = 'grant_used'

/** Round trips that name the payment until it is answered, one settle at a time. Polls of the daemon name none. */
async function roundTripsAlone({ make, urls }: Contestant, { listen }: CountedWire): Promise<number[]> {
  const bodies = (await make(numberOf('alone'))).map(({ body }) => body)
  const counts: number[] = []
  for (const body of bodies) {
    await sleep(500)
    const { paymentPayload } = JSON.parse(body) as { paymentPayload: { payload: { challengeNonce: string } } }
    const nonce = paymentPayload.payload.challengeNonce.slice('0x'.length)
    const heard = listen()
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${urls[0]}/settle`, { method: 'POST', headers, body })
    const { success } = (await answer.json()) as { success?: boolean }
    if (!success) throw new Error(`a settle alone was answered with ${answer.status}`)
    const ours = heard.filter(({ text }) => text.includes(nonce) && !text.includes(behindAnswer))
    counts.push(ours.reduce((sum, { roundTrips }) => sum + roundTrips, 0))
  }
  return counts
}

async function bench(): Promise<void> {
  const server = await startServer()
  closers.push(() => server.close())
  const chain = await startChild<ChainReady>({ module: 'chain', env: { BLOCK_MS: '1000' } })
  closers.push(() => chain.stop())
  const start = createContestants(chain.ready.rpcUrl, createPayers(payments))
  const loads = [await startChild<object>({ module: 'load' }), await startChild<object>({ module: 'load' })]
  closers.push(...loads.map((load) => () => load.stop()))
  const contestants = [
    await start('SQLite, one daemon', {}),
    await start('PostgreSQL, one daemon', { config: configOn(await server.create('one')) }),
    await start('PostgreSQL, two daemons', { postgres: await server.create('two') }),
  ]
  const [sqlite, one, two] = await runInTurns(contestants, loads)
  if (!sqlite || !one || !two) return
  say(`${payments} settles a run, ${atOnce} at once, blocks of a second; load ${loadavg()[0]?.toFixed(1)}`)

  const url = new URL(await server.create('alone'))
  const wire = await openCountedWire(Number(url.port), numberOf('away-ms'))
  closers.push(() => wire.close())
  url.port = `${wire.port}`
  const alone = await start('PostgreSQL, counted', { config: configOn(url.href) })
  const counts = await roundTripsAlone(alone, wire)
  say(`round trips of a settle alone: ${counts.join(', ')}`)

  const throughput = one.perSecond / sqlite.perSecond
  judge(
    throughput >= targets.throughput,
    `one daemon on PostgreSQL accepts ${throughput.toFixed(2)} × of SQLite (at least ${targets.throughput})`,
  )
  const cpu = two.cpuMs / one.cpuMs
  judge(
    cpu <= targets.cpu,
    `two daemons use ${cpu.toFixed(2)} × the processor time a settle of one (at most ${targets.cpu})`,
  )
  judge(
    median(counts) <= targets.roundTrips,
    `a settle alone is answered after ${median(counts)} round trips to the database (at most ${targets.roundTrips})`,
  )
}

const closeAll = async () => {
  for (const closer of closers.splice(0).reverse()) await closer()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void closeAll().then(() => process.exit(1)))
}
try {
  await bench()
} finally {
  await closeAll()
}
