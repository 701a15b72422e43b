import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { signRecoverable } from 'tiny-secp256k1'
import { afterEach, describe, expect, it } from 'vitest'
import { type SignerQuestion, signersOf } from './signer-of.js'
import { createSignerThread, type SignerThread } from './signer-thread.js'

const here = (question: SignerQuestion) => signersOf([question])[0]

const threads: SignerThread[] = []
const losses: unknown[] = []

afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close()
  losses.length = 0
})

function threadWith(startWorker: () => Worker): SignerThread {
  const thread = createSignerThread({
    questionsMax: 4,
    messagesInFlightMax: 2,
    onLost: (cause) => losses.push(cause),
    startWorker,
  })
  threads.push(thread)
  return thread
}

const builtWorker = () => new Worker(new URL('../../../dist/chain/signers/signer-worker.js', import.meta.url))

function signed(): SignerQuestion {
  const digest = randomBytes(32)
  const { signature, recoveryId } = signRecoverable(digest, randomBytes(32))
  return Buffer.concat([digest, signature, Buffer.of(recoveryId)]).toString('hex')
}

/** A signature whose r is not the x coordinate of any point. */
const unsignable = (): SignerQuestion => `${'11'.repeat(32)}${'ff'.repeat(64)}00`

describe('createSignerThread', () => {
  it('answers each of many questions with its own signer, also where there is none', async () => {
    const thread = threadWith(builtWorker)
    const questions = Array.from({ length: 25 }, (_, i) => (i % 7 === 3 ? unsignable() : signed()))
    const answers = await Promise.all(questions.map((question) => thread.signerOf(question)))
    expect(answers).toEqual(questions.map(here))
    expect(answers[3]).toBeUndefined()
    expect(losses).toEqual([])
  })

  it('does the work itself when the thread ends with questions in hand, and says so once', async () => {
    const thread = threadWith(
      () =>
        new Worker('require("node:worker_threads").parentPort.once("message", () => process.exit(3))', {
          eval: true,
        }),
    )
    const questions = [signed(), signed(), signed()]
    const first = await Promise.all(questions.map((question) => thread.signerOf(question)))
    const second = await Promise.all(questions.map((question) => thread.signerOf(question)))
    expect(first).toEqual(questions.map(here))
    expect(second).toEqual(questions.map(here))
    expect(losses).toHaveLength(1)
  })

  it('does the work itself when no thread can be started', async () => {
    const thread = threadWith(() => {
      throw new Error('no threads left')
    })
    const question = signed()
    expect(await thread.signerOf(question)).toEqual(here(question))
    expect(losses).toHaveLength(1)
  })
})
