/** A proving process: takes questions over IPC, one at a time, and ends with its parent. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { createEngine } from './engine.js'
import { limits } from './limits.js'
import type { Answer, Question } from './message.js'
import { ProverError } from './prover-error.js'

const [folder] = process.argv.slice(2)
assert(folder !== undefined && process.send !== undefined, 'this file runs only as a child process')

// Never less nice than its parent, which only an administrator may be.
setPriority(Math.max(limits.processNiceness, getPriority()))
process.once('disconnect', () => process.exit(0))

const engine = createEngine({ folder, randomBytes })
let running: { readonly id: number; readonly abort: AbortController } | undefined

const answer = (message: Answer): void => {
  // Send errors are ignored: when the parent is gone, `disconnect` ends this process.
  process.send?.(message, () => {})
}

async function work(question: Exclude<Question, { kind: 'cancel' }>): Promise<Answer> {
  const abort = new AbortController()
  running = { id: question.id, abort }
  try {
    if (question.kind === 'warm') {
      await engine.load(question.circuit)
      return { kind: 'warmed', id: question.id }
    }
    const proof = await engine.prove(question.circuit, question.input, abort.signal)
    return { kind: 'proved', id: question.id, proof }
  } catch (error) {
    // Any other error is a bug of ours. It ends the process, so that it is seen and the process replaced.
    if (!(error instanceof ProverError)) throw error
    return { kind: 'failed', id: question.id, code: error.code, message: error.message }
  } finally {
    running = undefined
  }
}

process.on('message', (question: Question) => {
  if (question.kind === 'cancel') {
    if (running?.id === question.id) running.abort.abort()
    return
  }
  void work(question).then(answer)
})
