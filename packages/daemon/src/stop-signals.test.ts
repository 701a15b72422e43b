import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'

const built = new URL('../dist/index.js', import.meta.url).href
let child: ChildProcess | undefined
afterEach(() => child?.kill('SIGKILL'))

/** A process that prints each signal it receives. `again` is the second argument of `onStopSignal`. */
async function listener(again: string) {
  const script = `
    import { onStopSignal } from ${JSON.stringify(built)}
    const say = (word) => process.stdout.write(word + '\\n')
    onStopSignal((signal) => say('first ' + signal), ${again})
    setInterval(() => undefined, 60_000)
    say('ready')`
  const started = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = started
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  const heard = async () => (await lines.next()).value as string
  expect(await heard()).toBe('ready')
  return { heard, kill: (signal: NodeJS.Signals) => started.kill(signal), ended: once(started, 'exit') }
}

it('the first signal is told from every later one, whichever of the two it is', async () => {
  const { heard, kill } = await listener(`() => say('again')`)
  kill('SIGINT')
  expect(await heard()).toBe('first SIGINT')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    kill(signal)
    expect(await heard()).toBe('again')
  }
})

it('the second signal ends the process when nobody listens for it', async () => {
  const { heard, kill, ended } = await listener('undefined')
  kill('SIGTERM')
  expect(await heard()).toBe('first SIGTERM')
  kill('SIGINT')
  expect(await ended).toEqual([null, 'SIGINT'])
})
