/** A PostgreSQL server as it ships: in a folder of its own, on a free port of loopback, with every commit on the disk. */
import { execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres, howToGetPostgres } from '../../../../scripts/postgres.mjs'

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
  const bin = findPostgres()
  if (bin === undefined) throw new Error(`PostgreSQL is missing: ${howToGetPostgres}`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-postgres-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const [data, port] = [join(folder, 'data'), await freePort()]
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } }
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8'], options)
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'shared_preload_libraries=pg_stat_statements',
  ]
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
    ...options,
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const ask = async (statement: string): Promise<string> => {
    const args = ['-X', '-A', '-t', '-q', '-c', statement, `postgres://svc@127.0.0.1:${port}/postgres`]
    return (await run(join(bin, 'psql'), args)).stdout.trim()
  }
  while ((await ask('SELECT 1').catch(() => '')) !== '1') {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await ask('CREATE EXTENSION pg_stat_statements')
  return {
    async create(name) {
      await ask(`CREATE DATABASE ${name}`)
      return `postgres://svc@127.0.0.1:${port}/${name}`
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
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** With the children that it has waited for. */
function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]) * 10, 0)
}

/** The server refuses to run as root. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [, uid, gid] =
    /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  return port
}
