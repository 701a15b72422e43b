import type { Serial } from '@svc-zerc20/protocol'
import type { BlockBuilder } from './block-builder.js'

/** When the node mines by itself. */
export type MiningMode =
  /** As soon as a transaction can be mined: one block with everything that waits. Never an empty block. */
  | { mode: 'instant' }
  /** One block each interval, even an empty one, like a real chain. */
  | { mode: 'interval'; intervalMs: number }
  /** Only when asked for. */
  | { mode: 'manual' }

/** Mines according to the mode. Explicitly requested blocks are mined elsewhere. */
export type Mining = {
  /** Tells the miner that a transaction may have become minable. */
  wake(): void
  /** Resolves when no block is under way that the miner mines by itself. */
  idle(): Promise<void>
  /** Stops mining by itself. Resolves when no block is under way. */
  pause(): Promise<void>
  resume(): void
  /** Stops for good, after the current block. */
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
    // An empty block ends the loop, because the next check would give the same result.
    return (await builder.build()).transactions.length > 0
  }

  async function mineBeat(): Promise<void> {
    if (!paused && !stopped) await builder.build()
  }

  // Each block is a separate step in the queue, so transactions that arrive meanwhile share the next block.
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
          // Missed intervals are skipped, so that they do not cause a burst of blocks.
          if (!stopped) schedule(Math.max(dueMs + intervalMs, performance.now()), intervalMs)
        })()
      },
      Math.max(0, dueMs - performance.now()),
    )
  }
  if (mode.mode === 'interval') schedule(performance.now() + mode.intervalMs, mode.intervalMs)

  return {
    wake,
    async idle() {
      await working
    },
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
