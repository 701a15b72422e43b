/** `svc-facilitator` inside this process, which saves the start of one. */
import { vi } from 'vitest'
import { createProgram } from '../src/command-line.js'
import { failWith, type Shell } from '../src/commands/shell.js'
import type { Environment } from '../src/config/secrets/environment.js'
import { createLog } from './log.js'

type Printed = { readonly code: number; readonly stdout: string; readonly stderr: string }

let earlier: Promise<unknown> = Promise.resolve()

/** Runs a command to its end. One after the other, because a process has one output. */
export function runHere(args: readonly string[], env: Environment = {}): Promise<Printed> {
  const printed = earlier.then(() => collect(() => run(args, env)))
  earlier = printed.catch(() => undefined)
  return printed
}

async function collect(command: () => Promise<number>): Promise<Printed> {
  const printed = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text
      return true
    }),
  )
  try {
    return { code: await command(), ...printed }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

/** Its exit code. */
async function run(args: readonly string[], env: Environment): Promise<number> {
  const ended = new Error('the command has ended')
  let exitSpy: { mockRestore(): void } | undefined
  try {
    return await new Promise((end, fail) => {
      exitSpy = vi.spyOn(process, 'exit').mockImplementation((code) => {
        end(Number(code))
        throw ended
      })
      const output: Shell['output'] = {
        log: createLog({ write: (line) => void process.stdout.write(line) }),
        exit(code) {
          end(code)
          // The code behind the exit is not run any more.
          return new Promise<never>(() => undefined)
        },
      }
      const shell = { env, output }
      createProgram('0', shell)
        .parseAsync(args, { from: 'user' })
        .then(() => end(Number(process.exitCode ?? 0)))
        .catch((error) => error === ended || failWith(error, shell))
        .catch(fail)
    })
  } finally {
    process.exitCode = undefined
    exitSpy?.mockRestore()
  }
}
