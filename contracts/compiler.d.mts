import type { Abi } from 'viem'

type Code = {
  readonly object: string
  readonly linkReferences: Record<string, never>
}

type RuntimeCode = Code & {
  readonly immutableReferences: Record<string, readonly { readonly start: number; readonly length: number }[]>
}

export type CompiledContract = {
  readonly abi: Abi
  readonly evm: { readonly bytecode: Code; readonly deployedBytecode: RuntimeCode }
}

export type Compilation = {
  readonly solcVersion: string
  readonly contracts: Record<string, Record<string, CompiledContract>>
  readonly immutableNames: Record<string, string>
}

export declare const contractsDir: string
export declare function solidityFiles(folder: string): string[]
export declare function compile(files: readonly string[]): Compilation
export declare function contractNamed(compilation: Compilation, name: string): CompiledContract
