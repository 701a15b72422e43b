/**
 * Computes signers in a separate thread. That is most of the work of a verify, and the main thread keeps serving
 * meanwhile. If the thread is lost, the work is done here instead, so every question gets an answer.
 */
import type { Worker } from 'node:worker_threads'
import { createThread, smallHeap, startWorker } from '../../thread.js'
import { createCoalescer } from '../coalesce.js'
import { answerAll, answerIn, pack, type SignerQuestion } from './signer-of.js'

export type SignerThread = {
  /** The 20 bytes of the signer's address. */
  signerOf(question: SignerQuestion): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/** Wrapped, because "no signer" is an answer too. */
type Answer = { readonly address: Uint8Array | undefined }

export function createSignerThread(deps: {
  questionsMax: number
  messagesInFlightMax: number
  /** Called once: from then on the work is done here. */
  onLost: (cause: unknown) => void
  startWorker?: () => Worker
}): SignerThread {
  const thread = createThread<Uint8Array, Uint8Array>(deps.startWorker ?? startSignerWorker)
  let isHere = false

  function lost(cause: unknown): void {
    if (!isHere) deps.onLost(cause)
    isHere = true
  }

  async function run(questions: readonly SignerQuestion[]): Promise<readonly Answer[]> {
    const packed = pack(questions)
    const there = isHere ? undefined : await thread.ask(packed).catch(lost)
    const answers = there ?? answerAll(packed)
    return questions.map((_, i) => ({ address: answerIn(answers, i) }))
  }

  const questions = createCoalescer<SignerQuestion, Answer>({
    run,
    batchMax: deps.questionsMax,
    inFlightMax: deps.messagesInFlightMax,
  })
  // Nothing is asked: the thread starts before the first payment comes.
  thread.ask(pack([])).catch(lost)

  return {
    signerOf: async (question) => (await questions.ask(question)).address,
    async close() {
      isHere = true
      await thread.close()
    },
  }
}

function startSignerWorker(): Worker {
  const worker = startWorker(new URL('./signer-worker.js', import.meta.url), 'svc-signer', smallHeap)
  // The thread does not keep a finished daemon alive.
  worker.unref()
  return worker
}
