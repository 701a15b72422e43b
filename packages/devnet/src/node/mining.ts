import type { Serial } from '@svc-zerc20/protocol'
import type { BlockBuilder } from './block-builder.js'

/** When blocks come by themselves. */
export type MiningMode =
  /** As soon as something can be mined, everything that waits in one block; never an empty block. */
  | { mode: 'instant' }
  /** One block each interval, also an empty one, as a real chain does. */
  | { mode: 'interval'; intervalMs: number }
  /** Only when asked for. */
  | { mode: 'manual' }

/** Mines by itself according to the mode. Blocks that are asked for explicitly are no concern of it. */
export type Mining = {
  /** Says that something may have become minable. */
  wake(): void
  /** After this resolves no block comes by itself. */
  pause(): Promise<void>
  resume(): void
  /** Stops for good, after the block in work. */
  stop(): Promise<void>
}

/** Creates the miner; an interval begins with this call. */
export function createMining(dependencies: {
  mode: MiningMode
  builder: BlockBuilder
  serial: Serial
}): Mining {
  const { mode, builder, serial } = dependencies
  let paused = false
  let stopped = false
  let woken = false
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function mineExecutable(): Promise<boolean> {
    if (paused || stopped || !(await builder.hasExecutable())) return false
    // A block that stayed empty after all ends it: the next look would find the same.
    return (await builder.build()).transactions.length > 0
  }

  async function mineBeat(): Promise<void> {
    if (!paused && !stopped) await builder.build()
  }

  // Each block is a step of its own in the queue: what arrives while one is mined goes into the next together.
  async function mineWhileExecutable(): Promise<void> {
    while (woken) {
      woken = false
      while (await serial(mineExecutable));
    }
    working = undefined
  }

  function wake() {
    if (mode.mode !== 'instant' || stopped) return
    woken = true
    working ??= mineWhileExecutable()
  }

  function schedule(dueMs: number, intervalMs: number) {
    timer = setTimeout(
      () => {
        working = (async () => {
          await serial(mineBeat)
          // Beats that were missed are skipped, not caught up in a burst.
          if (!stopped) schedule(Math.max(dueMs + intervalMs, performance.now()), intervalMs)
        })()
      },
      Math.max(0, dueMs - performance.now()),
    )
  }
  if (mode.mode === 'interval') schedule(performance.now() + mode.intervalMs, mode.intervalMs)

  return {
    wake,
    async pause() {
      paused = true
      await serial(async () => undefined)
    },
    resume() {
      paused = false
      wake()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await working
    },
  }
}
