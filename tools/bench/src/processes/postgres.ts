/** A PostgreSQL server as it ships: in a folder of its own, on a free port of loopback, with every commit on the disk. */
import { readFileSync } from 'node:fs'
import { createPostgresFolder, runStatements } from '@svc-zerc20/devnet'

export type ServerFigures = {
  readonly statements: number
  readonly transactions: number
  readonly walBytes: number
  /** Of the server and all connections that ended. */
  readonly cpuMs: number
}

export type BenchServer = {
  /** A new database. */
  create(name: string): Promise<string>
  /** Since the start. A connection counts when it has ended. */
  figures(): Promise<ServerFigures>
  bytesOf(name: string): Promise<number>
  close(): Promise<void>
}

/** Throws when there is no PostgreSQL on this machine. */
export async function startServer(): Promise<BenchServer> {
  const { url, launch, remove } = await createPostgresFolder({
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  })
  const server = await launch()
  const ask = (statement: string) => runStatements(url('postgres'), statement)
  await ask('CREATE EXTENSION pg_stat_statements')
  return {
    async create(name) {
      await ask(`CREATE DATABASE ${name}`)
      return url(name)
    },
    async figures() {
      const told = await ask(`SELECT (SELECT sum(calls) FROM pg_stat_statements),
        (SELECT sum(calls) FROM pg_stat_statements WHERE query = 'COMMIT'),
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')`)
      const [statements = 0, transactions = 0, walBytes = 0] = told.split('|').map(Number)
      return { statements, transactions, walBytes, cpuMs: cpuOf(server.pid) }
    },
    bytesOf: async (name) => Number(await ask(`SELECT pg_database_size('${name}')`)),
    async close() {
      await server.end()
      remove()
    },
  }
}

/** With the children that it has waited for. */
function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]) * 10, 0)
}
