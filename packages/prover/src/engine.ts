import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { groth16 } from 'snarkjs'
import type { Proof, ProofInput } from './message.js'
import { ProverError } from './prover-error.js'

/** What proves inside a process. */
export type Engine = {
  readonly load: (circuit: string) => Promise<void>
  readonly prove: (circuit: string, input: ProofInput, signal: AbortSignal) => Promise<Proof>
}

type CircuitFiles = { readonly witness: { file: string }; readonly provingKey: { file: string } }

/** Groth16 by snarkjs. */
export function createEngine({ folder }: { readonly folder: string }): Engine {
  function filesOf(circuit: string): CircuitFiles {
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
    const files: CircuitFiles | undefined = manifest.circuits[circuit]
    if (files === undefined) throw new ProverError('bad_artifacts', `there is no circuit ${circuit}`)
    return files
  }

  return {
    async load(circuit) {
      filesOf(circuit)
    },
    async prove(circuit, input) {
      const { witness, provingKey } = filesOf(circuit)
      const paths = [join(folder, witness.file), join(folder, provingKey.file)] as const
      const { proof, publicSignals } = await groth16.fullProve(input, ...paths).catch((error: unknown) => {
        throw new ProverError('bad_input', error instanceof Error ? error.message : String(error))
      })
      const { pi_a: a, pi_b: b, pi_c: c } = proof
      const words = [a[0], a[1], b[0]?.[1], b[0]?.[0], b[1]?.[1], b[1]?.[0], c[0], c[1]]
      return { proof: words.map((word) => BigInt(word ?? 0)), signals: publicSignals.map(BigInt) }
    },
  }
}
