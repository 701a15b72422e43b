/** Makes proofs for the daemon of this ledger that mints, with the secrets and the paths that this daemon finds by itself. */
import type { Clock } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import type { ProofJob, ProofJobs, TakenJob } from '../payment/finalize/proof-jobs.js'
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
): { stop(): Promise<void> } {
  const { jobs, prover, clock, report } = deps
  const stopping = new AbortController()
  const { signal } = stopping

  const witnessOf = (job: ProofJob): Promise<Witness> =>
    'batch' in job
      ? batchWitness(deps, job.batch, job.root, signal)
      : mintWitness(deps, job.payment, job.root, signal)

  async function lend({ job, give, giveUp }: TakenJob): Promise<void> {
    const startedAt = clock.now()
    try {
      const { circuit, input } = await witnessOf(job)
      const { proof } = await prover.prove(circuit, input, { signal })
      await give(proof)
      report({ event: 'proof.lent', ms: clock.now() - startedAt })
    } catch (err) {
      await giveUp()
      throw err
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const taken = await jobs
        .take()
        .then((job) => job && lend(job).then(() => job))
        .catch((err) => {
          if (!signal.aborted) report({ event: 'proof.not_lent', err })
        })
      if (!taken) await clock.sleep(limits.proofPollMs, signal)
    }
  }

  const ended = Promise.all(Array.from({ length: deps.processes }, run))
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
