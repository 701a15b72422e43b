/**
 * Computes signers in a separate thread. That is most of the work of a verify, and the main thread keeps serving
 * meanwhile. If the thread is lost, the work is done here instead, so every question gets an answer.
 */
import { Worker } from 'node:worker_threads'
import { createCoalescer } from '../coalesce.js'
import { answerBytes, questionBytes } from './signer-frame.js'
import { signerOf } from './signer-of.js'

export type SignerQuestion = {
  readonly digest: Uint8Array
  /** r ‖ s */
  readonly compactSignature: Uint8Array
  readonly parity: 0 | 1
}

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
  onLost: (cause: unknown) => void
  startWorker?: () => Worker
}): SignerThread {
  /** The thread answers in the order it was asked. */
  const outstanding: { resolve: (answers: Uint8Array) => void; reject: (cause: unknown) => void }[] = []
  let worker: Worker | undefined
  let closed = false

  function lost(cause: unknown): void {
    if (worker === undefined) return
    worker = undefined
    for (const { reject } of outstanding.splice(0)) reject(cause)
    if (!closed) deps.onLost(cause)
  }

  function launch(): void {
    try {
      worker = (deps.startWorker ?? startSignerWorker)()
    } catch (cause) {
      // The system refused another thread.
      deps.onLost(cause)
      return
    }
    worker.on('message', (answers: Uint8Array) => outstanding.shift()?.resolve(answers))
    worker.on('error', lost)
    worker.on('exit', (code) => lost(new Error(`the signer thread exited with code ${code}`)))
    // The thread does not keep a finished daemon alive.
    worker.unref()
  }

  async function run(questions: readonly SignerQuestion[]): Promise<readonly Answer[]> {
    const thread = worker
    if (thread === undefined) return questions.map(here)
    try {
      const answers = await new Promise<Uint8Array>((resolve, reject) => {
        outstanding.push({ resolve, reject })
        thread.postMessage(pack(questions))
      })
      return questions.map((_, i) => unpack(answers, i))
    } catch {
      // `onLost` was already called. The questions are answered here.
      return questions.map(here)
    }
  }

  const questions = createCoalescer<SignerQuestion, Answer>({
    run,
    batchMax: deps.questionsMax,
    inFlightMax: deps.messagesInFlightMax,
  })
  launch()

  return {
    async signerOf(question) {
      const { address } = await questions.ask(question)
      return address
    },
    async close() {
      closed = true
      await worker?.terminate()
    },
  }
}

/** Starts the built file without an environment, because the daemon's environment holds keys. */
function startSignerWorker(): Worker {
  return new Worker(new URL('./signer-worker.js', import.meta.url), {
    name: 'svc-signer',
    // The thread keeps nothing between answers, so a small young generation saves memory at no cost.
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
    env: {},
    execArgv: [],
  })
}

function here({ digest, compactSignature, parity }: SignerQuestion): Answer {
  return { address: signerOf(digest, compactSignature, parity) }
}

function pack(questions: readonly SignerQuestion[]): Uint8Array {
  const bytes = new Uint8Array(questions.length * questionBytes)
  for (const [i, { digest, compactSignature, parity }] of questions.entries()) {
    bytes.set(digest, i * questionBytes)
    bytes.set(compactSignature, i * questionBytes + 32)
    bytes[i * questionBytes + 96] = parity
  }
  return bytes
}

function unpack(answers: Uint8Array, i: number): Answer {
  const answer = answers.subarray(i * answerBytes, (i + 1) * answerBytes)
  return { address: answer[0] === 1 ? answer.subarray(1) : undefined }
}
