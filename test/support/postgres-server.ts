/** A PostgreSQL server for tests, which they end, freeze and start again. */
import {
  createPostgresFolder,
  findPostgres,
  howToGetPostgres,
  runStatements,
} from '../../packages/devnet/dist/network/postgres.js'
import { childrenOf } from './children.js'

/** Why tests with a server cannot run here; empty when they can. */
export const notRun = () => (findPostgres() === undefined ? ` (not run: ${howToGetPostgres})` : '')

export { runStatements }

export type PostgresServer = {
  /** The address of a database, which need not exist. */
  url(database: string): string
  /** Runs statements in a database, and gives what they print. */
  run(statements: string, database?: string): Promise<string>
  readonly port: number
  /** Ends it as a power failure would, and starts it again on the same folder and port. */
  restart(): Promise<void>
  /** Ends it as a power failure would, for good. */
  end(): Promise<void>
  /** Nothing in it runs until it is thawed. Its connections stay. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/** `standbyOf`: the port of the server that this one copies and follows, read-only until it is promoted. */
export async function startPostgres(options: { standbyOf?: number } = {}): Promise<PostgresServer> {
  const { url, port, launch, remove } = await createPostgresFolder(options)
  const run = (statements: string, database = 'postgres') => runStatements(url(database), statements)
  let server = await launch()
  let hasEnded = false
  const end = async () => {
    hasEnded = true
    await server.end()
  }
  const signal = (name: NodeJS.Signals) => {
    // The parent first: it would start a child again that looks dead.
    process.kill(server.pid, name)
    for (const pid of childrenOf(server.pid)) {
      try {
        process.kill(pid, name)
      } catch {
        // The connection of this process has just ended.
      }
    }
  }
  return {
    url,
    run,
    port,
    async restart() {
      await server.end()
      server = await launch()
    },
    end,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      if (!hasEnded) signal('SIGCONT')
      await end()
      remove()
    },
  }
}
