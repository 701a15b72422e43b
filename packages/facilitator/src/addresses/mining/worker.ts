import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import type { NonceRange, PowPuzzle } from '@svc-zerc20/zk'
import { type SearchOutcome, search } from '@svc-zerc20/zk'

/** What a worker is told: a slice of one search. Neither the seed nor the treasury is in it. */
export type MineSlice = { readonly puzzle: PowPuzzle; readonly range: NonceRange }

/** What a worker answers, once for every slice. */
export type MineAnswer = SearchOutcome

const port = parentPort
assert(port !== null, 'this file runs only as a worker thread')
port.on('message', ({ puzzle, range }: MineSlice) => {
  const answer: MineAnswer = search(puzzle, range)
  port.postMessage(answer)
})
