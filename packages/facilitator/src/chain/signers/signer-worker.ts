/** The thread's side of `createSignerThread`. */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { answerAll } from './signer-of.js'

const port = parentPort
assert(port !== null, 'runs as a worker thread')
port.on('message', (questions: Uint8Array) => port.postMessage(answerAll(questions)))
