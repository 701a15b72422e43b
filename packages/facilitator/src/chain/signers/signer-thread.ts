/**
 * Computes signers in a separate thread. That is most of the work of a verify, and the main thread keeps serving
 * meanwhile. If the thread is lost, the work is done here instead, so every question gets an answer.
 */
import type { Worker } from 'node:worker_threads'
import { createThread, smallHeap, startWorker } from '../../thread.js'
import { createCoalescer } from '../coalesce.js'
import { type SignerQuestion, signersOf } from './signer-of.js'

export type SignerThread = {
  signerOf(question: SignerQuestion): Promise<string | undefined>
  close(): Promise<void>
}

/** Wrapped, because "no signer" is an answer too. */
type Answer = { readonly address: string | undefined }

export function createSignerThread(deps: {
  questionsMax: number
  messagesInFlightMax: number
  /** Called once: from then on the work is done here. */
  onLost: (cause: unknown) => void
  startWorker?: () => Worker
}): SignerThread {
  const thread = createThread<readonly SignerQuestion[], readonly Answer['address'][]>(
    deps.startWorker ?? startSignerWorker,
  )
  let isHere = false

  function lost(cause: unknown): void {
    if (!isHere) deps.onLost(cause)
    isHere = true
  }

  async function run(questions: readonly SignerQuestion[]): Promise<readonly Answer[]> {
    const there = isHere ? undefined : await thread.ask(questions).catch(lost)
    return (there ?? signersOf(questions)).map((address) => ({ address }))
  }

  const questions = createCoalescer<SignerQuestion, Answer>({
    run,
    batchMax: deps.questionsMax,
    inFlightMax: deps.messagesInFlightMax,
  })
  // Nothing is asked: the thread starts before the first payment comes.
  thread.ask([]).catch(lost)

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
