/**
 * A prover that lets a decider prove, and proves by itself when the decider does not deliver. A proof from elsewhere is
 * a claim: it counts only if its public signals are those that were asked for and it is valid under our own key.
 */
import { createHash } from 'node:crypto'
import { readBounded } from '@svc-zerc20/daemon'
import { type Clock, type Secret, SvcError } from '@svc-zerc20/protocol'
import { batchCircuit, keysOf, type Manifest } from '@svc-zerc20/zk'
import * as z from 'zod'
import type { Proof, ProofInput } from '../message.js'
import type { Prover } from '../prover.js'
import { decodeProof, encodeWitness } from './job-text.js'
import { deciderLimits } from './limits.js'

export type DeciderEvent =
  /** A decider made this proof. */
  | { readonly event: 'decider.proved'; readonly ms: number }
  /** The decider gave no proof that counts, so the daemon proves by itself. */
  | { readonly event: 'decider.failed'; readonly err: unknown }

export type DeciderLimits = {
  readonly pollMs: number
  readonly answerMs: number
  readonly answerBytesMax: number
  readonly silentMs: number
  readonly patienceMs: number
}

/** A proof that the decider is asked for. */
export type DeciderWait = {
  readonly sinceMs: number
  /** When the decider last answered; undefined while it has not. */
  heardMs?: number
}

type Asked = { readonly signal: AbortSignal }

export type DeciderProver = {
  prove(circuit: string, input: ProofInput, asked: Asked): Promise<Proof>
  /** The proof that is waited for longest; undefined while none is. */
  waitsFor(): DeciderWait | undefined
}

const answer = z.object({
  status: z.enum(['queued', 'processing', 'completed', 'failed']),
  result: z.string().nullish(),
  error: z.string().nullish(),
})
type Answer = z.infer<typeof answer>

const tooMuch = () => new SvcError('decider_failed', 'the decider answered too much')

export function createDeciderProver(deps: {
  readonly url: string
  readonly token: Secret<string>
  /** Circuits that the decider proves, with the names of their public signals in order. Others are proved here. */
  readonly circuits: Readonly<Record<string, readonly string[]>>
  readonly own: Pick<DeciderProver, 'prove'>
  /** Whether a proof is valid under our own key of the circuit. */
  readonly verify: (circuit: string, proof: Proof) => boolean
  readonly clock: Clock
  readonly report: (event: DeciderEvent) => void
  readonly limits: DeciderLimits
}): DeciderProver {
  const { clock, limits, report } = deps
  const waits = new Set<DeciderWait>()
  const base = deps.url.replace(/\/+$/, '')

  async function ask(path: string, init: RequestInit, signal: AbortSignal): Promise<Answer | undefined> {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${deps.token.reveal()}`, ...init.headers },
      // The witness and the token go to the address in the configuration and nowhere else.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.answerMs)]),
    })
    const text = await readBounded(response, limits.answerBytesMax, tooMuch)
    if (response.status === 404) return undefined
    if (response.ok) return answer.parse(JSON.parse(text))
    throw new SvcError('decider_failed', `the decider answered ${response.status}`)
  }

  /** Submits until the decider knows the job, and asks until it has ended. A restarted decider is told again. */
  async function proveElsewhere(
    circuit: string,
    input: ProofInput,
    signal: AbortSignal,
    wait: DeciderWait,
  ): Promise<Proof> {
    const witness = encodeWitness(input)
    // The same witness is the same job, also for the next run of this daemon.
    const id = createHash('sha256').update(`${circuit}\n${witness}`).digest('hex')
    const body = JSON.stringify({ job_id: id, circuit, ivc_proof: witness })
    const submit = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const { sinceMs } = wait
    let isKnown = false
    for (;;) {
      try {
        const job: Answer | undefined = isKnown
          ? await ask(`/jobs/${id}`, {}, signal)
          : await ask('/jobs', submit, signal)
        wait.heardMs = clock.now()
        isKnown = job !== undefined
        // The answer to a submission has no result yet, even when the job has ended long ago.
        const told =
          job?.status === 'completed' && job.result == null ? await ask(`/jobs/${id}`, {}, signal) : job
        if (told?.status === 'failed') {
          throw new SvcError('decider_gave_up', `the decider could not prove: ${told.error ?? 'no reason'}`)
        }
        if (told?.status === 'completed') return decodeProof(told.result ?? '')
      } catch (err) {
        const isFinal = err instanceof SvcError && err.code !== 'decider_failed'
        if (isFinal || signal.aborted || clock.now() - (wait.heardMs ?? sinceMs) >= limits.silentMs) throw err
      }
      if (clock.now() - sinceMs >= limits.patienceMs) {
        throw new SvcError('decider_slow', `no proof of the decider within ${limits.patienceMs / 1000} s`)
      }
      await clock.sleep(limits.pollMs, signal)
      signal.throwIfAborted()
    }
  }

  function check(circuit: string, input: ProofInput, proof: Proof): Proof {
    const wanted = (deps.circuits[circuit] ?? []).map((name) => input[name])
    const isMeant =
      wanted.length === proof.signals.length && wanted.every((value, i) => value === proof.signals[i])
    if (isMeant && deps.verify(circuit, proof)) return proof
    throw new SvcError('decider_wrong', 'the decider answered with a proof that is not valid for this mint')
  }

  return {
    waitsFor: () => [...waits][0],

    async prove(circuit, input, { signal }) {
      if (deps.circuits[circuit] === undefined) return deps.own.prove(circuit, input, { signal })
      const wait: DeciderWait = { sinceMs: clock.now() }
      waits.add(wait)
      try {
        const elsewhere = proveElsewhere(circuit, input, signal, wait).finally(() => waits.delete(wait))
        const proof = check(circuit, input, await elsewhere)
        report({ event: 'decider.proved', ms: clock.now() - wait.sinceMs })
        return proof
      } catch (err) {
        signal.throwIfAborted()
        report({ event: 'decider.failed', err })
        return deps.own.prove(circuit, input, { signal })
      }
    },
  }
}

/** The public signals of the batch circuit, in the order of its proofs. */
const batchSignals = ['root', 'recipient', 'withdrawValue', 'start', 'end']

/** A prover whose batch proofs are made by the decider, when it has keys to check them. */
export async function withDecider(
  own: Prover,
  manifest: Manifest,
  deps: Pick<Parameters<typeof createDeciderProver>[0], 'url' | 'token' | 'clock' | 'report'>,
): Promise<Prover & Partial<Pick<DeciderProver, 'waitsFor'>>> {
  if (manifest.circuits[batchCircuit] === undefined) return own
  // Loaded only here: the arithmetic of pairings is large, and few daemons have a decider.
  const { createVerify } = await import('../verify.js')
  const isValid = createVerify(keysOf(manifest, batchCircuit).verificationKey)
  const { prove, waitsFor } = createDeciderProver({
    ...deps,
    circuits: { [batchCircuit]: batchSignals },
    own,
    verify: (_circuit, proof) => verifies(isValid, proof),
    limits: deciderLimits,
  })
  const never = new AbortController().signal
  return {
    ...own,
    waitsFor,
    prove: (circuit, input, { signal = never } = {}) => prove(circuit, input, { signal }),
  }
}

/** Points that lie on no curve cannot even be judged. */
function verifies(isValid: (proof: Proof) => boolean, proof: Proof): boolean {
  try {
    return isValid(proof)
  } catch {
    return false
  }
}
