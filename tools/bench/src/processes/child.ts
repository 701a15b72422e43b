import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** One of the benchmark's own processes. It ends when its parent is gone. */
export type Child<Ready> = {
  readonly pid: number
  /** The child's first message. */
  readonly ready: Ready
  stop(): Promise<void>
}

/** Starts a module of this folder. The module's first message means that it is ready. */
export async function startChild<Ready>(options: {
  module: string
  env?: Record<string, string>
}): Promise<Child<Ready>> {
  const script = fileURLToPath(new URL(`${options.module}.js`, import.meta.url))
  const child = fork(script, { env: { PATH: process.env.PATH ?? '', ...options.env } })
  const ready = await firstMessage<Ready>(child, options.module)
  return {
    pid: child.pid ?? 0,
    ready,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

function firstMessage<Message>(child: ChildProcess, name: string): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off('exit', onExit)
      resolve(message as Message)
    }
    const onExit = (code: number | null, signal: string | null) => {
      child.off('message', onMessage)
      reject(new Error(`${name} ended with ${code ?? signal}`))
    }
    child.once('message', onMessage)
    child.once('exit', onExit)
  })
}

/** Called in the child: sends the ready message, and ends the process together with its parent. */
export function announceReady(ready: object): void {
  process.once('disconnect', () => process.exit(0))
  process.send?.(ready)
}
