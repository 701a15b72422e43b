/** What is used of snarkjs, which has no declarations of its own. */
declare module 'snarkjs' {
  type MemoryFile = { type: 'mem'; data?: Uint8Array }
  type File = string | MemoryFile
  type Logger = {
    debug(line: string): void
    info(line: string): void
    warn(line: string): void
    error(line: string): void
  }
  type Proof = { pi_a: string[]; pi_b: string[][]; pi_c: string[] }

  export const wtns: {
    calculate(input: object, wasm: File, witness: File): Promise<void>
  }
  export const groth16: {
    prove(zkey: File, witness: File): Promise<{ proof: Proof; publicSignals: string[] }>
    verify(verificationKey: object, publicSignals: string[], proof: Proof): Promise<boolean>
  }
  export const zKey: {
    newZKey(r1cs: File, powersOfTau: File, zkey: File, logger?: Logger): Promise<unknown>
    contribute(from: File, to: File, name: string, entropy: string, logger?: Logger): Promise<unknown>
    beacon(
      from: File,
      to: File,
      name: string,
      beaconHex: string,
      iterationsExp: number,
      logger?: Logger,
    ): Promise<unknown>
    verifyFromR1cs(r1cs: File, powersOfTau: File, zkey: File, logger?: Logger): Promise<boolean>
    exportVerificationKey(zkey: File): Promise<object>
  }
}
