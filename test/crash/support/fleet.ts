/** Several daemons as processes on one PostgreSQL database, each behind a wire of its own, and one chain. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { changeConfigFile, developmentRoles, type LocalNetworkOptions } from '@svc-zerc20/devnet'
import { expect } from 'vitest'
import { historyEnvironment } from '../../support/history-environment.js'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.js'
import { startTcpSwitch } from '../../support/tcp-switch.js'
import { until } from '../../support/until.js'
import type { JournalRecord } from './journal.js'
import { type CrashNetwork, startCrashNetwork } from './network.js'
import { createRuns, type Run, type RunChanges } from './runs.js'

export type Fleet = Awaited<ReturnType<typeof startFleet>>
export type Member = Fleet['members'][number]

/** How long a lease runs, by `store/postgres/lease.ts`. */
export const leaseMs = 6_000

const database = 'ledger'

export async function startFleet({
  size = 3,
  /** How far the clock of each daemon is ahead. */
  aheadMs = [],
  config = {},
  ...options
}: Omit<LocalNetworkOptions, 'inProcess'> & { size?: number; aheadMs?: readonly number[] } = {}) {
  let server = await startPostgres()
  await server.run(`CREATE DATABASE ${database}`)
  const wires = await Promise.all(Array.from({ length: size }, () => startTcpSwitch(server.port)))
  const storageAt = (port: number) => ({ url: `postgres://svc@127.0.0.1:${port}/${database}` })
  const net = await startCrashNetwork({
    ...options,
    config: {
      ...config,
      settlement: { ...(config.settlement as object), journal: 'none' },
      storage: storageAt(wires[0]?.port ?? 0),
    },
  })
  // This one has no payment history, and no wire.
  await net.kill()
  let isOver = false
  /** All runs of all daemons, oldest first. */
  const runsOfAll: { readonly name: string; readonly run: Run }[] = []
  /** Runs that ended although nobody ended them. */
  const deaths: string[] = []

  const members = wires.map((wire, i) => {
    const name = 'ABCDEFGH'[i] ?? `${i}`
    const configFile = join(net.directory, `facilitator-${name}.toml`)
    copyFileSync(net.configFile, configFile)
    changeConfigFile(configFile, { storage: storageAt(wire.port) })
    const historyFile = join(net.directory, `history-${name}.jsonl`)
    const env = { SVC_ADMIN_TOKEN: net.adminToken, ...historyEnvironment(historyFile) }
    const settings = (changes: RunChanges = {}) => ({ aheadMs: aheadMs[i] ?? 0, ...changes, env })
    const runs = createRuns(configFile, settings)
    let isEnding = false
    const ending = async (signal: NodeJS.Signals) => {
      isEnding = true
      const run = runs.run()
      run.signal(signal)
      // A daemon that is stopped would never notice.
      run.signal('SIGCONT')
      await run.ended
    }
    return {
      ...runs,
      name,
      wire,
      configFile,
      historyFile,
      /** The whole network, as a client of this daemon sees it. */
      net: { ...net, url: runs.url, patience: { answerMs: 60_000, pauseMs: 15 } },
      kill: () => ending('SIGKILL'),
      stop: () => ending('SIGTERM'),
      /** Starts it, again and again while the database is away, until it serves. */
      async serve(): Promise<void> {
        isEnding = false
        for (;;) {
          const run = runs.launch()
          runsOfAll.push({ name, run })
          const isServing = await run.ready.then(
            () => true,
            () => false,
          )
          if (isServing) {
            void run.ended.then((how) => {
              if (!isEnding && !isOver)
                deaths.push(`${name} ended with ${how}: ${run.output().slice(-3_000)}`)
            })
            return
          }
          if (isOver) return
          if (!/storage|database|ECONN|CONNECT/i.test(run.output())) throw new Error(run.output())
        }
      },
      /** It is active, or stands by, and nothing is in its way. */
      async isReady(): Promise<boolean> {
        const answer = await fetch(`${runs.url()}/ready`).catch(() => undefined)
        return answer?.status === 200 || (await answer?.text())?.includes('"standby"') === true
      },
    }
  })
  await Promise.all(members.map(({ serve }) => serve()))

  let events: readonly JournalRecord[] = []
  /** Who is active, and in which term. */
  async function lease(): Promise<{ holder: string; term: number } | undefined> {
    const row = await server.run(`SELECT holder, term FROM lease WHERE name = 'active'`, database)
    const [holder = '', term] = row.split('|')
    return holder === '' ? undefined : { holder, term: Number(term) }
  }
  return {
    ...net,
    server,
    /** From now on the daemons find this server where they found the one before. */
    moveTo(next: PostgresServer): void {
      server = next
      for (const { wire } of members) wire.aim(next.port)
    },
    members,
    deaths,
    ask: (statement: string) => server.run(statement, database),
    /** Lines of the logs of all daemons that are at least this severe: 40 is a warning, 50 an error. */
    logged: (level: 40 | 50) =>
      runsOfAll.flatMap(({ name, run }) =>
        run
          .output()
          .split('\n')
          .filter((line) => Number(/"level":(\d+)/.exec(line)?.[1] ?? 60) >= level && line !== '')
          .map((line) => `${name} (process ${run.pid}): ${line}`),
      ),
    /** The events as they were last read. */
    records: () => events,

    /** The network as a client sees it that goes to another daemon each time. */
    anywhere: (choose: () => number, patience = { answerMs: 5_000, pauseMs: 100 }): CrashNetwork => ({
      ...net,
      patience,
      records: () => events,
      url: () => members[Math.floor(choose() * size)]?.url() ?? '',
    }),

    lease,
    /** The daemon that is active. */
    active: (): Promise<(typeof members)[number]> =>
      until(async () => {
        const { holder } = (await lease()) ?? {}
        return members.find((member) => holder?.includes(`(process ${member.run().pid}`))
      }),

    /** Everybody serves, and nothing is in their way. */
    async heal(): Promise<void> {
      server.thaw()
      for (const { wire } of members) wire.turn('open')
      await Promise.all(members.map(({ isReady }) => until(isReady)))
    },

    /** Reads the events of the database. Their numbers must be without a gap. */
    async read(): Promise<void> {
      const lines = (await server.run('SELECT seq, record FROM event ORDER BY seq', database)).split('\n')
      events = lines.filter(Boolean).map((line, i) => {
        const [seq = ''] = line.split('|', 1)
        expect(seq, 'number of an event').toBe(`${i + 1}`)
        return JSON.parse(line.slice(seq.length + 1)) as JournalRecord
      })
    },

    async stopAll(): Promise<void> {
      await Promise.all(members.map(({ stop }) => stop()))
    },
    async serveAll(): Promise<void> {
      await Promise.all(members.map(({ serve }) => serve()))
    },

    /** Transactions that wait, or txNonces that are missing, of every account that sends. */
    async expectNothingStuck(): Promise<void> {
      const { relayer, minter, treasury } = developmentRoles
      for (const { address } of [relayer, minter, treasury]) {
        const [latest, pending] = await Promise.all(
          ['latest', 'pending'].map((tag) => net.chain.request('eth_getTransactionCount', [address, tag])),
        )
        expect(pending, `txNonces of ${address}`).toBe(latest)
      }
    },

    async close(): Promise<void> {
      isOver = true
      await Promise.all(members.map(({ kill }) => kill().catch(() => undefined)))
      await net.close()
      await Promise.all(wires.map((wire) => wire.close()))
      await server.close()
      // Listeners that pile up are a leak, and Node tells of them nowhere else.
      const piled = /^.*MaxListenersExceededWarning.*$/m
      expect(
        runsOfAll.flatMap(
          ({ name, run }) => piled.exec(run.output())?.map((line) => `${name}: ${line}`) ?? [],
        ),
      ).toEqual([])
    },
  }
}
