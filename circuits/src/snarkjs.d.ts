/** The functions of snarkjs that are used here; snarkjs has no declarations of its own. */
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
  type Curve = { terminate(): Promise<void> }
  export const curves: { getCurveFromName(name: 'bn128'): Promise<Curve> }
  export const powersOfTau: {
    newAccumulator(curve: Curve, power: number, to: File): Promise<unknown>
    contribute(from: File, to: File, name: string, entropy: string): Promise<unknown>
    preparePhase2(from: File, to: File): Promise<unknown>
    /** Whether the file is valid. The reason goes to the logger. */
    verify(file: File, logger: Logger): Promise<boolean>
  }
  export const zKey: {
    /** A hash, or -1 on failure. The reason goes to the logger. */
    newZKey(r1cs: File, powersOfTau: File, zkey: File, logger: Logger): Promise<Uint8Array | -1>
    contribute(from: File, to: File, name: string, entropy: string, logger: Logger): Promise<Uint8Array>
    /** A hash, or false on failure. The reason goes to the logger. */
    beacon(
      from: File,
      to: File,
      name: string,
      beaconHex: string,
      iterationsExponent: number,
      logger: Logger,
    ): Promise<Uint8Array | false>
    verifyFromR1cs(r1cs: File, powersOfTau: File, zkey: File, logger: Logger): Promise<boolean>
    exportVerificationKey(zkey: File): Promise<object>
  }
}
