/** The thread's side of `createSignerThread`. */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { type SignerQuestion, signersOf } from './signer-of.js'

const port = parentPort
assert(port !== null, 'runs as a worker thread')
port.on('message', (questions: readonly SignerQuestion[]) => port.postMessage(signersOf(questions)))
