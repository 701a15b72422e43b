import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { environment } from './environment.js'

/** A Node script in its own process. It prints a line when it is ready, and ends when told to. */
export type Child = {
  readonly pid: number
  /** The fields of the line that announced it ready. */
  readonly ready: Record<string, unknown>
  /** Resolves with the exit code or signal once it has ended. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/** A start may take long while it tells how far it is. */
const silentStartMsMax = 60_000
const stopMsMax = 15_000

/**
 * Starts a script and waits for the first JSON line that `isReady` accepts. The child gets the given environment and
 * only PATH of ours, so that no key is passed on by accident.
 */
export async function startChild(options: {
  name: string
  nodeFlags?: readonly string[]
  script: string
  args?: readonly string[]
  env: Record<string, string>
  logFile: string
  isReady: (line: Record<string, unknown>) => boolean
  /** Ends a child that is not ready yet. */
  signal?: AbortSignal
}): Promise<Child> {
  options.signal?.throwIfAborted()
  const child = spawn(
    process.execPath,
    [...(options.nodeFlags ?? []), options.script, ...(options.args ?? [])],
    {
      env: { PATH: environment.PATH, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const log = createWriteStream(options.logFile)
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  const errors: string[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')))
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(`${code ?? signal}`))
  })
  const abort = () => child.kill('SIGTERM')
  options.signal?.addEventListener('abort', abort)
  const ready = await Promise.race([
    readyLine(child, options.isReady),
    ended.then((how) => {
      throw new Error(`${options.name} ended with ${how} before it was ready: ${errors.join('').trim()}`)
    }),
    silence(child).then(() => {
      throw new Error(`${options.name} was not ready in time`)
    }),
  ]).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  options.signal?.removeEventListener('abort', abort)
  return { pid: child.pid ?? 0, ready, ended, stop: () => stop(child, ended) }
}

/** Resolves when a child has printed nothing for too long. */
function silence(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, silentStartMsMax).unref()
    child.stdout?.on('data', () => timer.refresh())
  })
}

function readyLine(
  child: ChildProcess,
  isReady: (line: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      const lines = (text + chunk.toString('utf8')).split('\n')
      text = lines.pop() ?? ''
      const found = lines.map(parseLine).find((line) => line !== undefined && isReady(line))
      if (!found) return
      child.stdout?.off('data', onData)
      resolve(found)
    }
    child.stdout?.on('data', onData)
  })
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMsMax)
  await ended
  clearTimeout(timer)
}

/** The daemons of a local network, each in its own process. */
export type Daemons = {
  /**
   * Adds a daemon that stops with the network. Returns its URL. Daemons of one role stand in for each other; without one, a
   * daemon is on its own.
   */
  add(name: string, daemon: Child, role?: string): string
  pids(): Readonly<Record<string, number>>
  /** Resolves when all daemons of a role have ended by themselves, with its name and how the last one did. */
  firstEnded(): Promise<string>
}

export function createDaemons(deps: {
  say: (line: string) => void
  onClose: (closer: () => Promise<void>) => void
}): Daemons {
  const daemons = new Map<string, Child & { readonly role: string }>()
  /** Waits for the daemons of a role one after the other, so that the end of the last one is told. */
  async function ended(role: string): Promise<string> {
    let how = ''
    for (const daemon of daemons.values()) if (daemon.role === role) how = await daemon.ended
    return `${role} ended with ${how}`
  }
  return {
    add(name, daemon, role = name) {
      daemons.set(name, { ...daemon, role })
      deps.onClose(() => daemon.stop())
      deps.say(`${name} at ${daemon.ready.url}`)
      return String(daemon.ready.url)
    },
    pids: () => Object.fromEntries([...daemons].map(([name, { pid }]) => [name, pid])),
    firstEnded: () =>
      Promise.race([
        new Promise<never>(() => undefined),
        ...[...daemons.values()].map(({ role }) => ended(role)),
      ]),
  }
}
