/** A PostgreSQL server for tests: in a folder of its own, on a free port of loopback, as a user that is not root. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres, howToGetPostgres } from '../../scripts/postgres.mjs'
import { childrenOf } from './children.js'

/** Why tests with a server cannot run here; empty when they can. */
export const notRun = () => (findPostgres() === undefined ? ` (not run: ${howToGetPostgres})` : '')

export type PostgresServer = {
  /** The address of a database, which need not exist. */
  url(database: string): string
  /** Runs statements in a database, and gives what they print. */
  run(statements: string, database?: string): Promise<string>
  readonly port: number
  /** Ends it as a power failure would, and starts it again on the same folder and port. */
  restart(): Promise<void>
  /** Nothing in it runs until it is thawed. Its connections stay. */
  freeze(): void
  thaw(): void
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
  const args = [
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  const url = (database: string) => `postgres://svc@127.0.0.1:${port}/${database}`
  const run = (statements: string, database = 'postgres') => runStatements(url(database), statements)
  async function launch(): Promise<ChildProcess> {
    const launched = spawn(join(bin, 'postgres'), args, { ...options, stdio: 'ignore' })
    for (;;) {
      if (launched.exitCode !== null) throw new Error(`postgres ended with ${launched.exitCode}`)
      const isUp = await run('SELECT 1').catch(() => '')
      if (isUp === '1') return launched
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  let server = await launch()
  const signal = (name: NodeJS.Signals) => {
    // The parent first: it would start a child anew that looks dead.
    server.kill(name)
    for (const pid of childrenOf(server.pid ?? 0)) {
      try {
        process.kill(pid, name)
      } catch {
        // The connection of this process has just ended.
      }
    }
  }
  async function end(): Promise<void> {
    const exited = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGQUIT')
    await exited
  }
  return {
    url,
    run,
    port,
    async restart() {
      await end()
      server = await launch()
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      signal('SIGCONT')
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A test may read a whole ledger. */
const maxBuffer = 1024 ** 3

/** Runs statements in the database of this address, and gives what they print. */
export async function runStatements(url: string, statements: string): Promise<string> {
  const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', statements, url]
  const { stdout } = await promisify(execFile)(join(findPostgres() ?? '', 'psql'), args, { maxBuffer })
  return stdout.trim()
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
