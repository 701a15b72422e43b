/** The thread's side of the miner. */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import type { PowPuzzle } from '@svc-zerc20/zk'
// A thread starts in half the time without the rest of that package.
import { findPowNonce, type NonceRange } from '@svc-zerc20/zk/pow-kernel'

/** A slice of one search, without the seed and the treasury. */
export type MineSlice = { readonly puzzle: PowPuzzle; readonly range: NonceRange }

const port = parentPort
assert(port !== null, 'this file runs only as a worker thread')
port.on('message', ({ puzzle, range }: MineSlice) => port.postMessage(findPowNonce(puzzle, range)))
