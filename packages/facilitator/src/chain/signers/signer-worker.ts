/** The thread's side of `createSignerThread`: packed questions in, packed answers out, in order. */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { answerBytes, questionBytes } from './signer-frame.js'
import { signerOf } from './signer-of.js'

assert(parentPort, 'runs as a worker thread')
const port = parentPort

port.on('message', (questions: Uint8Array) => {
  const count = questions.length / questionBytes
  const answers = new Uint8Array(count * answerBytes)
  for (let i = 0; i < count; i++) {
    const question = questions.subarray(i * questionBytes, (i + 1) * questionBytes)
    const address = signerOf(question.subarray(0, 32), question.subarray(32, 96), question[96] === 1 ? 1 : 0)
    if (!address) continue
    answers[i * answerBytes] = 1
    answers.set(address, i * answerBytes + 1)
  }
  port.postMessage(answers)
})
