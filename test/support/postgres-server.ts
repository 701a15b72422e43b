/** A PostgreSQL server for tests, which they end, freeze and start again. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createPostgresFolder,
  findPostgres,
  howToGetPostgres,
} from '../../packages/devnet/dist/network/postgres.js'
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
  const { url, port, launch, remove } = await createPostgresFolder()
  const run = (statements: string, database = 'postgres') => runStatements(url(database), statements)
  let server = await launch()
  const signal = (name: NodeJS.Signals) => {
    // The parent first: it would start a child again that looks dead.
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
    if (server.exitCode !== null || server.signalCode !== null) throw new Error('the server had ended before')
    const exited = once(server, 'exit')
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
      remove()
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
