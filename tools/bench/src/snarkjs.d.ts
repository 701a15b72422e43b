/** The functions of snarkjs that the benchmark uses; snarkjs has no declarations of its own. */
declare module 'snarkjs' {
  export const groth16: {
    fullProve(
      input: object,
      witnessFile: string,
      keyFile: string,
    ): Promise<{ proof: object; publicSignals: readonly string[] }>
  }
}
