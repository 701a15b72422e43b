// Child processes of a script. A signal to the script ends all of them first, then the script.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM']
const living = new Map()
let stoppedBy

for (const signal of signals) process.on(signal, () => void stop(signal))

// npm runs a script through a shell. A signal to npm ends npm and the shell without reaching the script.
const shell = process.ppid
const pollMs = 250
if (process.env.npm_lifecycle_event) {
  setInterval(() => {
    if (process.ppid !== shell) void stop('SIGTERM')
  }, pollMs).unref()
}

async function stop(signal) {
  if (stoppedBy) return
  stoppedBy = signal
  for (const child of living.keys()) child.kill('SIGTERM')
  await Promise.all(living.values())
  process.exit(128 + constants.signals[signal])
}

/** Starts a process. `ended` resolves with its exit code, or 1 when a signal ended it. */
export function start(command, args, options) {
  const child = spawn(command, args, options)
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  }).finally(() => living.delete(child))
  living.set(child, ended)
  return { child, ended: ended.then(unlessStopped) }
}

/** While the script is being stopped, the end of a child is ignored: `stop` exits when all children have ended. */
const unlessStopped = (code) => (stoppedBy ? new Promise(() => undefined) : code)
