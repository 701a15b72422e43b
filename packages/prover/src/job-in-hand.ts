import type { Answer, Proof, ProofInput } from './message.js'
import { ProverError } from './prover-error.js'

/** One call of the prover, with the functions that answer it. */
export type Job = {
  readonly circuit: string
  /** Undefined when the process should only load the key. */
  readonly input: ProofInput | undefined
  readonly resolve: (proof: Proof | undefined) => void
  readonly reject: (error: ProverError) => void
}

/** Tells the caller what the process answered. */
export function answerJob({ resolve, reject }: Job, answer: Answer): void {
  if (answer.kind === 'failed') reject(new ProverError(answer.code, answer.message))
  else resolve(answer.kind === 'proved' ? answer.proof : undefined)
}

/** The job that a slot is at: one at a time, each with its own number and a bound on its time. */
export type JobInHand = {
  /** The number (the `id` of question and answer) by which the process answers. `onLate` is called when the time is up. */
  take(job: Job, onLate: () => void): number
  /** The number of this job, while it is in hand. */
  numberOf(job: Job): number | undefined
  /** Puts the job out of hand, so that it is answered once. With a number, only if it is that one's. */
  finish(number?: number): Job | undefined
  isEmpty(): boolean
}

export function createJobInHand({ jobMsMax }: { readonly jobMsMax: number }): JobInHand {
  let current: { readonly number: number; readonly job: Job; readonly deadline: NodeJS.Timeout } | undefined
  let last = 0
  return {
    take(job, onLate) {
      last += 1
      current = { number: last, job, deadline: setTimeout(onLate, jobMsMax) }
      return last
    },
    numberOf: (job) => (current?.job === job ? current.number : undefined),
    finish(number) {
      if (current === undefined || (number !== undefined && number !== current.number)) return undefined
      clearTimeout(current.deadline)
      const { job } = current
      current = undefined
      return job
    },
    isEmpty: () => current === undefined,
  }
}
