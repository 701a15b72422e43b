declare module 'snarkjs' {
  type Groth16Proof = {
    readonly pi_a: readonly string[]
    readonly pi_b: readonly (readonly string[])[]
    readonly pi_c: readonly string[]
  }
  export const groth16: {
    fullProve(
      input: object,
      witnessFile: string,
      keyFile: string,
    ): Promise<{ proof: Groth16Proof; publicSignals: readonly string[] }>
    verify(
      key: object,
      signals: readonly string[],
      proof: { pi_a: unknown; pi_b: unknown; pi_c: unknown; protocol: string; curve: string },
    ): Promise<boolean>
  }
}
