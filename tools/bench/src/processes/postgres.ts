/** A PostgreSQL server as it ships: in a folder of its own, on a free port of loopback, with every commit on the disk. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPostgresFolder, findPostgres } from '@svc-zerc20/devnet'

const run = promisify(execFile)

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
  const ended = once(server, 'exit')
  const ask = async (statement: string): Promise<string> => {
    const args = ['-X', '-A', '-t', '-q', '-c', statement, url('postgres')]
    return (await run(join(findPostgres() ?? '', 'psql'), args)).stdout.trim()
  }
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
      return { statements, transactions, walBytes, cpuMs: cpuOf(server.pid ?? 0) }
    },
    bytesOf: async (name) => Number(await ask(`SELECT pg_database_size('${name}')`)),
    async close() {
      server.kill('SIGQUIT')
      await ended
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
