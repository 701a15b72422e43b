/** A Node program in its own process. Of our environment it gets only PATH. */
import { spawn } from 'node:child_process'

export type Ended = {
  /** Exit code; null when a signal ended the process. */
  readonly code: number | null
  /** Exit code or signal. */
  readonly how: string
  readonly stdout: string
  readonly stderr: string
}

export type NodeProcess = {
  readonly pid: number
  /** The process's whole output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<Ended>
  signal(name: NodeJS.Signals): void
  /** Calls back when it has written something, to either stream. */
  onOutput(heard: () => void): void
}

export function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): NodeProcess {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', ...Object.fromEntries(given) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const listeners: (() => void)[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      output[stream] += chunk.toString('utf8')
      for (const heard of listeners) heard()
    })
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, how: `${code ?? signal}`, ...output }))
  })
  return {
    pid: child.pid ?? 0,
    output,
    ended,
    signal: (name) => void child.kill(name),
    onOutput: (heard) => void listeners.push(heard),
  }
}
