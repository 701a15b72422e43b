/** A PostgreSQL server for tests: in a folder of its own, on a free port of loopback, as a user that is not root. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres, howToGetPostgres } from '../../scripts/postgres.mjs'

/** Why tests with a server cannot run here; empty when they can. */
export const notRun = () => (findPostgres() === undefined ? ` (not run: ${howToGetPostgres})` : '')

export type PostgresServer = {
  /** The address of a database, which need not exist. */
  url(database: string): string
  /** Runs statements in a database, and gives what they print. */
  run(statements: string, database?: string): Promise<string>
  readonly process: ChildProcess
  close(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const bin = findPostgres() ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const [data, port] = [join(folder, 'data'), await freePort()]
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } }
  const initial = ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  await promisify(execFile)(join(bin, 'initdb'), initial, options)
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: 500,
  }
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...options, stdio: 'ignore' },
  )
  const exited = new Promise((resolve) => server.once('exit', resolve))
  const url = (database: string) => `postgres://svc@127.0.0.1:${port}/${database}`
  const run = (statements: string, database = 'postgres') => runStatements(url(database), statements)
  for (;;) {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
    const isUp = await run('SELECT 1').catch(() => '')
    if (isUp === '1') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url,
    run,
    process: server,
    async close() {
      server.kill('SIGQUIT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs statements in the database of this address, and gives what they print. */
export async function runStatements(url: string, statements: string): Promise<string> {
  const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', statements, url]
  return (await promisify(execFile)(join(findPostgres() ?? '', 'psql'), args)).stdout.trim()
}

/** The server refuses to run as root. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
