import { type ChildProcess, spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { createProvingSlot, type ProvingSlot } from './proving-slot.js'

/** A fake process that loads every key at once. */
const working = () =>
  spawn(process.execPath, ['-e', 'process.on("message", ({ id }) => process.send({ kind: "warmed", id }))'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })

const warm = (slot: ProvingSlot) =>
  new Promise((resolve, reject) => slot.run({ circuit: 'root-16', input: undefined, resolve, reject }))

const starts: readonly (readonly [string, () => ChildProcess])[] = [
  [
    'cannot be forked',
    () => {
      throw new Error('spawn ENOMEM')
    },
  ],
  [
    'has no channel',
    () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }),
  ],
  ['has no channel and never ran', () => spawn('/nowhere/node', { stdio: 'ignore' })],
  ['never ran', () => spawn('/nowhere/node', { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })],
]

test.each(starts)('a process that %s costs its job and a pause, not the slot', async (_what, broken) => {
  let start = broken
  const started: ChildProcess[] = []
  let free = () => {}
  const freed = new Promise<void>((resolve) => {
    free = resolve
  })
  const slot = createProvingSlot({
    start() {
      const child = start()
      started.push(child)
      return child
    },
    free: () => free(),
  })
  await expect(warm(slot)).rejects.toMatchObject({ code: 'prover_crashed' })
  expect(slot.idle()).toBe(false)
  await freed
  expect(slot.idle()).toBe(true)
  for (const child of started) {
    if (child.pid !== undefined && child.signalCode === null) {
      await new Promise((resolve) => child.once('exit', resolve))
    }
  }
  start = working
  await warm(slot)
  expect(slot.hasLoaded('root-16')).toBe(true)
  await slot.end()
})
