/** Proves with snarkjs as its documentation shows, in a process of its own: one question, one proof. */
import { groth16 } from 'snarkjs'
import { announceReady } from './child.js'

/** A circuit's files and its inputs, numbers as texts. */
export type ReferenceQuestion = {
  readonly input: Readonly<Record<string, string | readonly string[]>>
  readonly witnessFile: string
  readonly keyFile: string
}

process.on('message', async ({ input, witnessFile, keyFile }: ReferenceQuestion) => {
  const { publicSignals } = await groth16.fullProve(input, witnessFile, keyFile)
  process.send?.({ publicSignals })
})
announceReady({})
