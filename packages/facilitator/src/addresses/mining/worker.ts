import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import type { NonceRange, PowPuzzle } from '@svc-zerc20/zk'
import { type SearchOutcome, search } from '@svc-zerc20/zk'

/** A message to a worker: a slice of one search, without the seed and the treasury. */
export type MineSlice = { readonly puzzle: PowPuzzle; readonly range: NonceRange }

/** A worker's answer, once for every slice. */
export type MineAnswer = SearchOutcome

const port = parentPort
assert(port !== null, 'this file runs only as a worker thread')
port.on('message', ({ puzzle, range }: MineSlice) => {
  const answer: MineAnswer = search(puzzle, range)
  port.postMessage(answer)
})
