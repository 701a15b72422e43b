/** The built command as a process of its own, with nothing of our environment but the path. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export function startCommand(args: readonly string[], env: Record<string, string | undefined> = {}) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH ?? '', ...given } as Record<string, string>,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString('utf8')
  })
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, ...output }))
  })
  return { output, ended, pid: child.pid ?? 0, signal: (name: NodeJS.Signals) => void child.kill(name) }
}

/** Runs it to its end. */
export const runCommand = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  startCommand(args, env).ended
