export type Manifest = {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export type Packed = {
  readonly name: string
  readonly file: string
  /** What is inside. */
  readonly paths: readonly string[]
}

export function publicFolders(): string[]
export function manifestOf(folder: string): Manifest
export function pack(destination: string): Packed[]
export type Role = 'seller' | 'payer' | 'operator'
export const roles: Readonly<Record<Role, unknown>>
export function installWords(role: Role, packed: readonly Packed[]): string[]
