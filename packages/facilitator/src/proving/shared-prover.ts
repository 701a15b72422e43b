/**
 * A prover that lets other daemons of its ledger prove what its own processes have no time for. A proof from elsewhere is a
 * claim: it counts only if it is valid under our own key for the signals that were asked for.
 */
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import type { CircuitName } from '@svc-zerc20/zk'
import { limits } from '../config/limits.js'
import type { ProofJobs, ProofOffer } from '../payment/finalize/proof-jobs.js'
import type { Log } from '../telemetry/events.js'
import type { MintProver, WantedProof } from './proofs.js'

export function createSharedProver(deps: {
  readonly own: MintProver
  readonly jobs: Pick<ProofJobs, 'offer'>
  readonly isValid: (
    circuit: CircuitName,
    proof: { readonly proof: readonly bigint[]; readonly signals: readonly bigint[] },
  ) => Promise<boolean>
  /** Proofs that are made at once here. */
  readonly processes: number
  /** Circuits whose proofs need none of these processes. */
  readonly isApart: (circuit: CircuitName) => boolean
  readonly clock: Clock
  readonly report: Log
}): MintProver {
  const { own, jobs, processes, clock, report } = deps
  let busy = 0
  /** Ends the pauses of all that wait for a proof. */
  let waking = new AbortController()

  function takeProcess(): boolean {
    if (busy >= processes) return false
    busy += 1
    return true
  }

  function freeProcess(): void {
    busy -= 1
    wakeAll()
  }

  function wakeAll(): void {
    waking.abort()
    waking = new AbortController()
  }

  /** Counts one more than there are processes, if need be: the proof then waits here for one of them. */
  function proveHere(): undefined {
    busy += 1
  }

  /** Undefined once a process here was taken for it. */
  async function wordsOf(offer: ProofOffer, signal: AbortSignal): Promise<readonly bigint[] | undefined> {
    const startedAt = clock.now()
    for (;;) {
      signal.throwIfAborted()
      const woken = waking.signal
      const found = await offer.poll()
      if (typeof found === 'object') return found.words
      if (found === 'gone') throw unproved('another daemon could not make this proof')
      if (found === 'free' && takeProcess()) return undefined
      if (clock.now() - startedAt >= limits.proofElsewhereMsMax) throw unproved('no daemon made this proof')
      await clock.sleep(limits.proofPollMs, woken)
    }
  }

  /** Undefined when it is to be made here, by a process that was taken for it. */
  async function borrow(circuit: CircuitName, { job, signals }: WantedProof, signal: AbortSignal) {
    const startedAt = clock.now()
    try {
      const offer = await jobs.offer(job)
      if (!offer) return proveHere()
      // Not by `AbortSignal.any`: a signal that lives as long as the daemon would keep each one that is made of it.
      signal.addEventListener('abort', wakeAll)
      const words = await wordsOf(offer, signal).finally(() => {
        signal.removeEventListener('abort', wakeAll)
        return offer.end().catch(() => undefined)
      })
      if (!words) return undefined
      const proof = { proof: words, signals }
      if (!(await deps.isValid(circuit, proof)))
        throw unproved('another daemon gave a proof that is not valid')
      report({ event: 'proof.borrowed', ms: clock.now() - startedAt })
      return proof
    } catch (err) {
      signal.throwIfAborted()
      report({ event: 'proof.not_borrowed', err })
      return proveHere()
    }
  }

  return {
    async prove(circuit, input, options) {
      if (deps.isApart(circuit)) return own.prove(circuit, input, options)
      const proof = takeProcess() ? undefined : await borrow(circuit, options.wanted, options.signal)
      return proof ?? own.prove(circuit, input, options).finally(freeProcess)
    },
  }
}

const unproved = (message: string) => new SvcError('proof_not_shared', message)
