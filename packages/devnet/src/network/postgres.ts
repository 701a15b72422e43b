/** A PostgreSQL server of one's own: in a new folder, on a free port of loopback, as a user that is not root. */
import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loopbackHost } from '../node/rpc/loopback.js'
import { environment } from './environment.js'
import { freePort } from './wanted-port.js'

const debianFolder = '/usr/lib/postgresql'

/** The folder of `postgres` and `initdb`, or undefined. `POSTGRES_BIN` names another one. */
export function findPostgres(): string | undefined {
  const installed = existsSync(debianFolder)
    ? readdirSync(debianFolder)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debianFolder, version, 'bin'))
    : []
  const places = [environment.POSTGRES_BIN, ...installed, '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin']
  return places.find((folder) => folder !== undefined && existsSync(join(folder, 'initdb')))
}

/** What a person types to have one. */
export const howToGetPostgres = 'apt-get install postgresql, or POSTGRES_BIN=/folder/of/initdb'

export type PostgresFolder = {
  readonly port: number
  /** The address of a database; `postgres` is there from the start. */
  url(database: string): string
  /** Starts the server on the folder, also again after its end. Resolves when it takes connections. */
  launch(): Promise<{
    readonly pid: number
    /** Ends it at once, as a power failure would. */
    end(): Promise<void>
  }>
  remove(): void
}

/** A test may read a whole ledger. */
const printedBytesMax = 1024 ** 3

/** Runs statements in the database of this address, and gives what they print. */
export async function runStatements(url: string, statements: string): Promise<string> {
  const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', statements, url]
  const options = { maxBuffer: printedBytesMax }
  return (await promisify(execFile)(join(findPostgres() ?? '', 'psql'), args, options)).stdout.trim()
}

/** Nothing in it has to outlive the machine. */
const quickSettings = { fsync: 'off', max_connections: 500 } as const

/** Prepares the folder of a server. It is below the system's folder for such things, where another user can reach it. */
export async function createPostgresFolder({
  settings = quickSettings,
  child = { stdio: 'ignore' },
  standbyOf,
}: {
  readonly settings?: Readonly<Record<string, string | number>>
  readonly child?: Pick<SpawnOptions, 'stdio' | 'detached'>
  /** The port of a server that runs. This one begins as its copy, and follows it until it is promoted. */
  readonly standbyOf?: number
} = {}): Promise<PostgresFolder> {
  const bin = findPostgres()
  if (bin === undefined) throw new Error(`there is no PostgreSQL server here: ${howToGetPostgres}`)
  const [folder, port] = [mkdtempSync(join(tmpdir(), 'svc-postgres-')), await freePort()]
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const options = { ...user, cwd: folder, env: { PATH: environment.PATH, LC_ALL: 'C' } }
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const [program, ways] =
    standbyOf === undefined
      ? ['initdb', ['-A', 'trust', '-E', 'UTF8']]
      : [
          'pg_basebackup',
          ['-h', loopbackHost, '-p', `${standbyOf}`, '--write-recovery-conf', '--checkpoint=fast'],
        ]
  const initial = ['-D', data, '-U', 'svc', '--no-sync', ...ways]
  await promisify(execFile)(join(bin, program), initial, options).catch((error) => {
    remove()
    throw error
  })
  const all = { ...settings, listen_addresses: loopbackHost, port, unix_socket_directories: '' }
  const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const question = ['-q', '-h', loopbackHost, '-p', `${port}`, '-U', 'svc']
  const isUp = () =>
    promisify(execFile)(join(bin, 'pg_isready'), question).then(
      () => true,
      () => false,
    )
  return {
    port,
    url: (database) => `postgres://svc@${loopbackHost}:${port}/${database}`,
    async launch() {
      const server = spawn(join(bin, 'postgres'), args, { ...options, ...child })
      const { pid } = server
      if (pid === undefined) throw new Error(`${bin} has no server that can be started`)
      const exited = once(server, 'exit')
      // Another server may have taken the port, and answers in its place.
      const isOurs = () => pidIn(data) === pid
      while (!(isOurs() && (await isUp()))) {
        if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return {
        pid,
        async end() {
          server.kill('SIGQUIT')
          await exited
        },
      }
    },
    remove,
  }
}

/** The process of the server on this folder; undefined while none runs. */
function pidIn(data: string): number | undefined {
  const file = join(data, 'postmaster.pid')
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
}

/** The address of the wanted database, or of one on a server that ends with the network. */
export async function openDatabase(
  wanted: boolean | string | undefined,
  logFile: string,
  onClose: (closer: () => Promise<void>) => void,
): Promise<string | undefined> {
  if (wanted !== true) return wanted || undefined
  const log = openSync(logFile, 'w')
  // Out of reach of the terminal's signals: its users end first.
  const folder = await createPostgresFolder({ child: { stdio: ['ignore', log, log], detached: true } })
  onClose(async () => folder.remove())
  const server = await folder.launch()
  closeSync(log)
  onClose(server.end)
  return folder.url('postgres')
}

/** The server refuses to run as root. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
