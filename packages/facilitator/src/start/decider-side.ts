/** A prover whose batch proofs are made by the decider, wired. */
import type { Secret } from '@svc-zerc20/protocol'
import type { Prover } from '@svc-zerc20/prover'
import { batchCircuit, keysOf, type Manifest } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { Clock } from '../payment/ports.js'
import { createDeciderProver, type DeciderProver } from '../proving/decider/client.js'
import type { JobProof } from '../proving/decider/job-bytes.js'
import { deciderLimits } from '../proving/decider/limits.js'
import type { Telemetry } from '../telemetry/telemetry.js'

/** The public signals of the batch circuit, in the order of its proofs. */
const batchSignals = ['root', 'recipient', 'withdrawValue', 'start', 'end']

export type ProverWithDecider = Prover & Partial<Pick<DeciderProver, 'waitsFor'>>

export async function withDecider(
  own: Prover,
  manifest: Manifest,
  deps: {
    readonly config: Config
    /** Absent when the daemon proves everything itself. */
    readonly deciderToken: Secret<string> | undefined
    readonly clock: Clock
    readonly telemetry: Pick<Telemetry, 'log'>
  },
): Promise<ProverWithDecider> {
  const { deciderToken: token } = deps
  if (token === undefined || manifest.circuits[batchCircuit] === undefined) return own
  // Loaded only here: the arithmetic of pairings is large, and few daemons have a decider.
  const { createVerify } = await import('@svc-zerc20/prover/verify')
  const isValid = createVerify(keysOf(manifest, batchCircuit).verificationKey)
  const { prove, waitsFor } = createDeciderProver({
    url: deps.config.network.decider_url,
    token,
    circuits: { [batchCircuit]: batchSignals },
    own,
    verify: (_circuit, proof) => verifies(isValid, proof),
    clock: deps.clock,
    report: deps.telemetry.log,
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
function verifies(isValid: (proof: JobProof) => boolean, proof: JobProof): boolean {
  try {
    return isValid(proof)
  } catch {
    return false
  }
}
