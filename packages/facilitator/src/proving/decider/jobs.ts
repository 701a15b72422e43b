/**
 * The jobs of a decider, in memory alone: a witness holds secrets, so none is written to a disk. After a restart every
 * job is unknown, and whoever waits for one submits it again. The witness is forgotten as soon as its proof is made.
 */
import { createHash } from 'node:crypto'
import type { CircuitInput } from '@svc-zerc20/zk'
import type { Clock } from '../../payment/ports.js'
import { encodeProof, type JobProof } from './job-bytes.js'

export type Job = {
  readonly id: string
  readonly circuit: string
  readonly status: 'queued' | 'processing' | 'completed' | 'failed'
  /** The bytes of the proof. */
  readonly result?: Buffer
  readonly error?: string
}

export type JobLimits = {
  /** Jobs that are remembered, and those of them that wait. */
  readonly jobsMax: number
  readonly waitingMax: number
  /** A proof is kept for this long after somebody asked for it. */
  readonly keptMs: number
}

export type Jobs = {
  /**
   * Takes a job, once: the same id and witness again give the job as it is. A job that failed is tried again. Refuses
   * another witness under a known id, and further jobs while too many wait.
   */
  submit(id: string, circuit: string, bytes: Buffer, input: CircuitInput): SubmitEnd
  find(id: string): Job | undefined
  /** Rejects nothing: jobs under way are dropped. */
  close(): void
}

export type SubmitEnd =
  | { readonly kind: 'taken' | 'known'; readonly job: Job }
  | { readonly kind: 'other_witness' | 'full' }

type Kept = { job: Job; readonly fingerprint: string; input: CircuitInput | undefined; touchedAtMs: number }

/** As long as upstream's messages at most. */
const errorCharactersMax = 512

export function createJobs(deps: {
  readonly prove: (circuit: string, input: CircuitInput, signal: AbortSignal) => Promise<JobProof>
  /** Proofs at once. */
  readonly processes: number
  readonly clock: Pick<Clock, 'now'>
  readonly limits: JobLimits
}): Jobs {
  const { clock, limits } = deps
  const jobs = new Map<string, Kept>()
  const waiting: Kept[] = []
  const closing = new AbortController()
  let underWay = 0

  function next(): void {
    const kept = underWay < deps.processes && !closing.signal.aborted ? waiting.shift() : undefined
    if (!kept?.input) return
    underWay += 1
    const { input, job } = kept
    kept.job = { ...job, status: 'processing' }
    deps
      .prove(job.circuit, input, closing.signal)
      .then(
        (proof) => finish(kept, { ...job, status: 'completed', result: encodeProof(proof) }),
        (err: unknown) => finish(kept, { ...job, status: 'failed', error: textOf(err) }),
      )
      .finally(() => {
        underWay -= 1
        next()
      })
    next()
  }

  function finish(kept: Kept, job: Job): void {
    kept.job = job
    kept.input = undefined
    kept.touchedAtMs = clock.now()
  }

  const hasEnded = ({ job }: Kept) => job.status === 'completed' || job.status === 'failed'

  /** Forgets what is old, and the job that ended first when there are too many. */
  function makeRoom(): boolean {
    const now = clock.now()
    for (const [id, kept] of jobs) {
      if (hasEnded(kept) && now - kept.touchedAtMs >= limits.keptMs) jobs.delete(id)
    }
    if (jobs.size < limits.jobsMax) return true
    const [oldest] = [...jobs].find(([, kept]) => hasEnded(kept)) ?? []
    return oldest !== undefined && jobs.delete(oldest)
  }

  function start(id: string, circuit: string, fingerprint: string, input: CircuitInput): SubmitEnd {
    if (waiting.length >= limits.waitingMax || !makeRoom()) return { kind: 'full' }
    const kept: Kept = {
      job: { id, circuit, status: 'queued' },
      fingerprint,
      input,
      touchedAtMs: clock.now(),
    }
    jobs.delete(id)
    jobs.set(id, kept)
    waiting.push(kept)
    next()
    return { kind: 'taken', job: kept.job }
  }

  return {
    submit(id, circuit, bytes, input) {
      const fingerprint = createHash('sha256').update(`${circuit}\n`).update(bytes).digest('hex')
      const kept = jobs.get(id)
      if (kept && kept.fingerprint !== fingerprint) return { kind: 'other_witness' }
      if (!kept || kept.job.status === 'failed') return start(id, circuit, fingerprint, input)
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
      waiting.length = 0
    },
  }
}

function textOf(err: unknown): string {
  const text = err instanceof Error ? err.message : String(err)
  return text.length <= errorCharactersMax ? text : `${text.slice(0, errorCharactersMax)}...`
}
