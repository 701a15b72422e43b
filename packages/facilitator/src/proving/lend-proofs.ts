/** Makes proofs for the daemon of this ledger that mints, with the secrets and the paths that this daemon finds by itself. */
import type { Clock } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import type { ProofJob, ProofJobs, TakenJob } from '../payment/finalize/proof-jobs.js'
import { startLoop } from '../payment/loop.js'
import type { Log } from '../telemetry/events.js'
import { batchWitness } from './batch-proofs.js'
import { mintWitness, type Witness, type WitnessSources } from './proofs.js'

export function startLendingProofs(
  deps: WitnessSources & {
    readonly jobs: Pick<ProofJobs, 'take'>
    readonly prover: {
      prove(
        circuit: string,
        input: Witness['input'],
        options: { readonly signal: AbortSignal },
      ): Promise<{ readonly proof: readonly bigint[] }>
    }
    /** Proofs that are made at once. */
    readonly processes: number
    readonly clock: Clock
    readonly report: Log
  },
): { stop(): Promise<unknown> } {
  const { jobs, prover, clock, report } = deps

  const witnessOf = (job: ProofJob, signal: AbortSignal): Promise<Witness> =>
    'batch' in job
      ? batchWitness(deps, job.batch, job.root, signal)
      : mintWitness(deps, job.payment, job.root, signal)

  async function lend({ job, give, giveUp }: TakenJob, signal: AbortSignal): Promise<void> {
    const startedAt = clock.now()
    try {
      const { circuit, input } = await witnessOf(job, signal)
      const { proof } = await prover.prove(circuit, input, { signal })
      await give(proof)
      report({ event: 'proof.lent', ms: clock.now() - startedAt })
    } catch (err) {
      await giveUp()
      throw err
    }
  }

  async function round(signal: AbortSignal): Promise<number> {
    const taken = await jobs.take()
    if (!taken) return limits.proofPollMs
    await lend(taken, signal)
    return 0
  }

  const onFailure = (err: unknown) => report({ event: 'proof.not_lent', err })
  const loops = Array.from({ length: deps.processes }, () =>
    startLoop({ round, clock, periodMs: limits.proofPollMs, onFailure }),
  )
  return { stop: () => Promise.all(loops.map((loop) => loop.stop())) }
}
