import assert from 'node:assert/strict'
import { scalarPrime } from '@svc-zerc20/kernel'
import {
  ArtifactError,
  type Artifacts,
  type CircuitName,
  circuitNames,
  keysOf,
  readArtifacts,
} from '@svc-zerc20/zk'
import { createGroth16, type Groth16 } from './groth16.js'
import type { Proof, ProofInput } from './message.js'
import { ProverError } from './prover-error.js'
import { readProvingKey } from './proving-key.js'
import { createVerify } from './verify.js'
import { loadWitnessProgram, type WitnessProgram } from './witness-program.js'

/** Makes proofs inside a proving process. A loaded key stays in memory. */
export type Engine = {
  readonly load: (circuit: string) => Promise<void>
  /** Checks the signal between the steps of a proof. */
  readonly prove: (circuit: string, input: ProofInput, signal: AbortSignal) => Promise<Proof>
}

export type EngineOptions = {
  readonly folder: string
  readonly randomBytes: (count: number) => Uint8Array
}

type Loaded = {
  readonly program: WitnessProgram
  readonly groth16: Groth16
  readonly publicSignals: number
  readonly verify: (proof: Proof) => boolean
}

const wireBytes = 32
/** 16 bytes more than a scalar, so that the remainder modulo the field's order is practically uniform. */
const blindingBytes = 48

const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export function createEngine({ folder, randomBytes }: EngineOptions): Engine {
  const circuits = new Map<CircuitName, Loaded>()
  let artifacts: Artifacts | undefined

  async function read(circuit: CircuitName): Promise<Loaded> {
    artifacts ??= await readArtifacts(folder)
    const key = readProvingKey(await artifacts.read(circuit, 'provingKey'))
    return {
      program: loadWitnessProgram(await artifacts.read(circuit, 'witness'), scalarPrime),
      groth16: createGroth16(key),
      publicSignals: key.publicSignals,
      verify: createVerify(keysOf(artifacts.manifest, circuit).verificationKey),
    }
  }

  async function load(name: string): Promise<Loaded> {
    const circuit = circuitNames.find((known) => known === name)
    if (circuit === undefined) throw new ProverError('bad_artifacts', `there is no circuit ${name}`)
    const known = circuits.get(circuit)
    if (known !== undefined) return known
    try {
      const loaded = await read(circuit)
      circuits.set(circuit, loaded)
      return loaded
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error
      throw new ProverError('bad_artifacts', error.message, { cause: error })
    }
  }

  const scalar = () => numberOf(randomBytes(blindingBytes)) % scalarPrime

  return {
    async load(circuit) {
      await load(circuit)
    },
    async prove(circuit, input, signal) {
      const { program, groth16, publicSignals, verify } = await load(circuit)
      const witness = program.calculate(input)
      const words = await groth16.prove(witness, [scalar(), scalar()], async () => {
        await turn()
        if (signal.aborted) throw new ProverError('prove_cancelled', 'the proof was cancelled')
      })
      const signals = Array.from({ length: publicSignals }, (_, index) =>
        numberOf(witness.subarray((index + 1) * wireBytes, (index + 2) * wireBytes)),
      )
      const proof: Proof = { proof: words, signals }
      // Every proof is verified, which is cheap. A wrong key or a flipped bit would otherwise cost gas on chain.
      assert(verify(proof), `a proof of ${circuit} does not hold under its own verification key`)
      return proof
    },
  }
}
