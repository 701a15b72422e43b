import assert from 'node:assert/strict'
import type { Job } from './job-in-hand.js'
import { limits } from './limits.js'
import type { Proof, ProofInput } from './message.js'
import { ProverError } from './prover-error.js'
import { createProvingSlot, forkProvingProcess, type ProvingSlot } from './proving-slot.js'

export type ProverOptions = {
  /** The folder of the artifacts, with `manifest.json`. */
  readonly folder: string
  /** Number of proofs at once. Each is a process with its own keys in memory. */
  readonly processes: number
  /** Circuits whose keys are loaded before the first proof is asked for, one after the other. */
  readonly warm?: readonly string[]
}

/** Proves in separate processes, so that proofs neither block the caller's event loop nor use its memory. */
export type Prover = {
  /**
   * Rejects with a `ProverError`. The prover never tries again by itself. Another call may help after `prover_crashed`,
   * never after `bad_input`.
   */
  readonly prove: (
    circuit: string,
    input: ProofInput,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<Proof>
  /** Ids of the running processes, for operators and tests. */
  readonly pids: () => readonly number[]
  /** Ends the processes; jobs under way are rejected as `prover_closed`. */
  readonly close: () => Promise<void>
}

/** Jobs wait in order of arrival. A free process that has the circuit's key in memory is preferred. */
export function createProver({ folder, processes, warm = [] }: ProverOptions): Prover {
  assert(processes >= 1, 'a prover needs a process')
  const waiting: Job[] = []
  let closed = false
  const slots: readonly ProvingSlot[] = Array.from({ length: processes }, () =>
    createProvingSlot({ start: () => forkProvingProcess(folder), free: next }),
  )

  function next(): void {
    const idle = slots.filter((slot) => slot.idle())
    const job = idle.length === 0 ? undefined : waiting.shift()
    if (job === undefined) return
    const slot = idle.find((candidate) => candidate.hasLoaded(job.circuit)) ?? idle[0]
    slot?.run(job)
    next()
  }

  function submit(job: Job): void {
    if (closed) throw new ProverError('prover_closed', 'the prover was closed')
    if (waiting.length >= limits.queuedJobsMax) {
      throw new ProverError('prover_queue_full', `${waiting.length} proofs are waiting already`)
    }
    waiting.push(job)
    next()
  }

  function prove(circuit: string, input: ProofInput, signal?: AbortSignal): Promise<Proof> {
    return new Promise((resolve, reject) => {
      const cancelled = () =>
        new ProverError('prove_cancelled', 'the proof was cancelled', { cause: signal?.reason })
      if (signal?.aborted) throw cancelled()
      const withdraw = () => {
        const place = waiting.indexOf(job)
        if (place >= 0) waiting.splice(place, 1)
        for (const slot of slots) slot.cancel(job)
        reject(cancelled())
      }
      const job: Job = {
        circuit,
        input,
        resolve(proof) {
          signal?.removeEventListener('abort', withdraw)
          if (proof !== undefined) resolve(proof)
        },
        reject(error) {
          signal?.removeEventListener('abort', withdraw)
          reject(error)
        },
      }
      submit(job)
      signal?.addEventListener('abort', withdraw, { once: true })
    })
  }

  for (const circuit of warm) {
    // Errors are ignored here: the first proof with a key that cannot be loaded reports them.
    submit({ circuit, input: undefined, resolve: () => {}, reject: () => {} })
  }

  return {
    prove: (circuit, input, options) => prove(circuit, input, options?.signal),
    pids: () => slots.flatMap((slot) => slot.pid() ?? []),
    async close() {
      closed = true
      for (const job of waiting.splice(0)) {
        job.reject(new ProverError('prover_closed', 'the prover was closed'))
      }
      await Promise.all(slots.map((slot) => slot.end()))
    },
  }
}
