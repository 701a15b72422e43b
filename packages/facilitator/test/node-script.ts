/** Small Node programs that use the built modules, as processes that can be killed. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Where a script of `runScript` imports the built module from. */
export const builtModule = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url)))

export function runScript(source: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8')
  })
  /** Exit code or signal, and everything it said. */
  const ended = new Promise<{ how: string; output: string; errors: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ how: `${code ?? signal}`, output, errors }))
  })
  return {
    pid: child.pid,
    ended,
    kill: () => child.kill('SIGKILL'),
    /** Resolves when it writes something, or when it ends. */
    async said(): Promise<void> {
      await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended])
    },
  }
}
