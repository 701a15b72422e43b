import type { Abi } from 'viem'

type Code = {
  readonly object: string
  readonly linkReferences: Record<string, never>
}

export type CompiledContract = {
  readonly abi: Abi
  readonly evm: { readonly bytecode: Code; readonly deployedBytecode: Code }
}

export type Compilation = {
  readonly solcVersion: string
  readonly contracts: Record<string, Record<string, CompiledContract>>
}

export declare const contractsDir: string
export declare function solidityFiles(folder: string): string[]
export declare function compile(files: readonly string[]): Compilation
export declare function contractNamed(compilation: Compilation, name: string): CompiledContract
