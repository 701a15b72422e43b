/** Solves proof-of-work puzzles away from the thread that serves requests. */
import assert from 'node:assert/strict'
import type { Worker } from 'node:worker_threads'
import { SvcError } from '@svc-zerc20/protocol'
import type { PowPuzzle } from '@svc-zerc20/zk'
import { limits } from '../config/limits.js'
import { createThread, smallHeap, startWorker as startFile, type Thread } from '../thread.js'
import type { MineSlice } from './miner-worker.js'

export type AddressMiner = {
  /** Puzzles that are worked on at the same time. */
  readonly threads: number
  /**
   * Finds a powNonce. Puzzles are started in the order of the calls. A crashed worker is replaced and its puzzle goes on
   * where it was; after a few crashes, with a full queue or once closed it rejects. Derive the address from the answer before
   * anybody pays to it: that shows whether it passes the proof of work.
   */
  mine(puzzle: PowPuzzle): Promise<number>
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

export const startMineWorker = (): Worker =>
  startFile(new URL('./miner-worker.js', import.meta.url), 'svc-address-miner', smallHeap)

export function createAddressMiner({
  threads,
  queuedTasksMax = limits.minerQueuedTasksMax,
  startWorker = startMineWorker,
  threadRestMs = limits.minerThreadRestMs,
}: AddressMinerDeps): AddressMiner {
  assert(Number.isInteger(threads) && threads > 0, 'threads must be a positive integer')
  type MineThread = Thread<MineSlice, number | undefined>
  const all = Array.from({ length: threads }, (): MineThread => createThread(startWorker, threadRestMs))
  const free = [...all]
  /** Called with a thread, or with none when the miner is closed. */
  const queue: ((thread: MineThread | undefined) => void)[] = []
  let isClosed = false
  const closed = () => new SvcError('closed', 'the address miner is closed')

  async function search(thread: MineThread, puzzle: PowPuzzle): Promise<number> {
    const { generation, powBits, recipientHash, baseSecret } = puzzle
    let startNonce = 0
    for (let crashes = 0; startNonce < limits.minerTriesPerExpectedMax * 2 ** powBits; ) {
      let powNonce: number | undefined
      try {
        powNonce = await thread.ask({
          // Fields are picked by name, because callers pass derivations that hold secrets.
          puzzle: { generation, powBits, recipientHash, baseSecret },
          range: { startNonce, maxTries: limits.minerSliceTries },
        })
      } catch (cause) {
        if (isClosed) throw closed()
        crashes += 1
        if (crashes <= limits.minerCrashesPerTaskMax) continue
        throw new SvcError('miner_crashed', `${crashes} workers crashed on one task`, { cause })
      }
      if (powNonce !== undefined) return powNonce
      startNonce += limits.minerSliceTries
    }
    throw new SvcError('miner_exhausted', `no valid nonce below ${startNonce}`)
  }

  return {
    threads,
    async mine(puzzle) {
      if (isClosed) throw closed()
      if (free.length === 0 && queue.length >= queuedTasksMax) {
        throw new SvcError('miner_queue_full', `${queuedTasksMax} tasks are waiting already`)
      }
      const thread = free.shift() ?? (await new Promise<MineThread | undefined>((give) => queue.push(give)))
      if (!thread) throw closed()
      try {
        return await search(thread, puzzle)
      } finally {
        const next = queue.shift()
        if (next) next(thread)
        else free.push(thread)
      }
    },
    async close() {
      isClosed = true
      for (const give of queue.splice(0)) give(undefined)
      await Promise.all(all.map((thread) => thread.close()))
    },
  }
}
