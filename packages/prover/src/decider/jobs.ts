/**
 * The jobs of a decider, in memory alone: a witness holds secrets, so none is written to a disk. After a restart every
 * job is unknown, and its client submits it again. Only the prover has the witness, until its proof is made.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '@svc-zerc20/protocol'
import type { Proof, ProofInput } from '../message.js'
import { encodeProof } from './job-text.js'

export type Job = {
  readonly id: string
  readonly circuit: string
  readonly status: 'processing' | 'completed' | 'failed'
  /** The proof, as text. */
  readonly result?: string
  readonly error?: string
}

export type JobLimits = {
  /** Jobs that are remembered, and those of them that have not ended. */
  readonly jobsMax: number
  readonly underWayMax: number
  /** A proof is kept for this long after somebody asked for it. */
  readonly keptMs: number
}

export type Jobs = {
  /**
   * Takes a job, once: the same id and witness again give the job as it is. A job that failed is tried again. Refuses
   * another witness under a known id, and further jobs while too many are under way.
   */
  submit(job: Pick<Job, 'id' | 'circuit'>, witness: string, input: ProofInput): SubmitEnd
  find(id: string): Job | undefined
  /** Rejects nothing: jobs under way are dropped. */
  close(): void
}

export type SubmitEnd =
  | { readonly kind: 'taken' | 'known'; readonly job: Job }
  | { readonly kind: 'other_witness' | 'full' }

type Kept = { job: Job; readonly fingerprint: string; touchedAtMs: number }

/** As long as upstream's messages at most. */
const errorCharactersMax = 512

export function createJobs(deps: {
  /** Proofs beyond what can be made at once wait in it. */
  readonly prove: (circuit: string, input: ProofInput, signal: AbortSignal) => Promise<Proof>
  readonly clock: Pick<Clock, 'now'>
  readonly limits: JobLimits
}): Jobs {
  const { clock, limits } = deps
  const jobs = new Map<string, Kept>()
  const closing = new AbortController()
  const isUnderWay = ({ job }: Kept) => job.status === 'processing'

  /** Forgets what is old, and the job that ended first when there are too many. */
  function hasRoom(): boolean {
    const now = clock.now()
    for (const [id, kept] of jobs) {
      if (!isUnderWay(kept) && now - kept.touchedAtMs >= limits.keptMs) jobs.delete(id)
    }
    if ([...jobs.values()].filter(isUnderWay).length >= limits.underWayMax) return false
    if (jobs.size < limits.jobsMax) return true
    const [oldest] = [...jobs].find(([, kept]) => !isUnderWay(kept)) ?? []
    return oldest !== undefined && jobs.delete(oldest)
  }

  function start(job: Job, fingerprint: string, input: ProofInput): SubmitEnd {
    if (!hasRoom()) return { kind: 'full' }
    const kept: Kept = { job, fingerprint, touchedAtMs: clock.now() }
    const end = (ended: Pick<Job, 'status' | 'result' | 'error'>) => {
      kept.job = { ...job, ...ended }
      kept.touchedAtMs = clock.now()
    }
    jobs.delete(job.id)
    jobs.set(job.id, kept)
    deps.prove(job.circuit, input, closing.signal).then(
      (proof) => end({ status: 'completed', result: encodeProof(proof) }),
      (err: unknown) => end({ status: 'failed', error: textOf(err) }),
    )
    return { kind: 'taken', job }
  }

  return {
    submit({ id, circuit }, witness, input) {
      const fingerprint = createHash('sha256').update(`${circuit}\n${witness}`).digest('hex')
      const kept = jobs.get(id)
      if (kept && kept.fingerprint !== fingerprint) return { kind: 'other_witness' }
      if (!kept || kept.job.status === 'failed') {
        return start({ id, circuit, status: 'processing' }, fingerprint, input)
      }
      kept.touchedAtMs = clock.now()
      return { kind: 'known', job: kept.job }
    },
    find(id) {
      const kept = jobs.get(id)
      if (kept) kept.touchedAtMs = clock.now()
      return kept?.job
    },
    close() {
      closing.abort()
      jobs.clear()
    },
  }
}

function textOf(err: unknown): string {
  const text = err instanceof Error ? err.message : String(err)
  return text.length <= errorCharactersMax ? text : `${text.slice(0, errorCharactersMax)}...`
}
