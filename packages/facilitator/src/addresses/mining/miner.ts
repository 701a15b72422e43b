import assert from 'node:assert/strict'
import type { Worker } from 'node:worker_threads'
import type { MinedAddress, PowPuzzle } from '@svc-zerc20/zk'
import { limits } from '../limits.js'
import { MineError } from './error.js'
import { createMineSlot, type MineTask, startMineWorker } from './slot.js'

/** Solves proof-of-work puzzles away from the thread that serves requests. */
export type AddressMiner = {
  /** Puzzles that are worked on at the same time. */
  readonly threads: number
  /**
   * Puzzles are started in the order of the calls. A crashed worker is replaced and its puzzle goes on; after a
   * few crashes, with a full queue or once closed it rejects with a `MineError`. The answer is the worker's
   * word: check it with `verifyBurnAddress` before anybody pays to it.
   */
  mine(puzzle: PowPuzzle): Promise<MinedAddress>
  /** Ends all threads; whatever is still open rejects. Until then they keep the process alive. */
  close(): Promise<void>
}

export type AddressMinerDeps = {
  readonly threads: number
  readonly queuedTasksMax?: number
  /** Starts a thread; a caller that needs to hold the thread wraps `startMineWorker`. */
  readonly startWorker?: () => Worker
  readonly threadRestMs?: number
}

export function createAddressMiner({
  threads,
  queuedTasksMax = limits.queuedTasksMax,
  startWorker = startMineWorker,
  threadRestMs = limits.threadRestMs,
}: AddressMinerDeps): AddressMiner {
  assert(Number.isInteger(threads) && threads > 0, 'threads must be a positive integer')
  const queue: MineTask[] = []
  const slots = Array.from({ length: threads }, () =>
    createMineSlot({ startWorker, nextTask: () => queue.shift(), restMs: threadRestMs }),
  )
  let closing: Promise<void> | undefined

  function enqueue(task: MineTask): void {
    const idle = slots.find((slot) => slot.idle())
    if (closing !== undefined) task.reject(new MineError('miner_closed', 'the address miner is closed'))
    else if (idle !== undefined) idle.run(task)
    else if (queue.length < queuedTasksMax) queue.push(task)
    else task.reject(new MineError('miner_queue_full', `${queuedTasksMax} tasks are waiting already`))
  }

  async function endAll(): Promise<void> {
    const waiting = queue.splice(0)
    const ends = slots.map((slot) => slot.end())
    for (const task of [...ends.flatMap(({ unfinished }) => unfinished ?? []), ...waiting]) {
      task.reject(new MineError('miner_closed', 'the address miner was closed'))
    }
    await Promise.all(ends.map(({ ended }) => ended))
  }

  return {
    threads,
    mine: (puzzle) =>
      new Promise((resolve, reject) => enqueue({ puzzle, resolve, reject, startNonce: 0, crashes: 0 })),
    close() {
      closing ??= endAll()
      return closing
    },
  }
}
