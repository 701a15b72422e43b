// Decides whether the code at an address is that of one of our contracts. The compiler leaves zeros in place of immutables,
// which the constructor fills in. If any other byte differs, it is another contract.

type Hex = `0x${string}`

/** A contract's code as compiled, and the byte offsets at which each immutable stands. */
export type Runtime = {
  readonly code: Hex
  readonly immutables: Readonly<Record<string, readonly number[]>>
}

/** Value of each immutable, as a word. */
export type Immutables<R extends Runtime> = { readonly [Name in keyof R['immutables']]: Hex }

const wordDigits = 64

/**
 * The immutables of deployed code that is this contract's; undefined when it is not.
 *
 * Our code can be deployed with another constructor, which can write any immutables. So the caller must compare the
 * immutables with the values that it expects.
 */
export function readRuntime<R extends Runtime>(deployed: string, runtime: R): Immutables<R> | undefined {
  if (deployed.length !== runtime.code.length) return undefined
  const code = deployed.toLowerCase()
  const values: Record<string, Hex> = {}
  let masked = code
  for (const [name, places] of Object.entries(runtime.immutables)) {
    for (const place of places) {
      const from = 2 + 2 * place
      const word: Hex = `0x${code.slice(from, from + wordDigits)}`
      // An immutable occurs at several places. If these differ, no constructor of ours made this code.
      if (values[name] !== undefined && values[name] !== word) return undefined
      values[name] = word
      masked = masked.slice(0, from) + '0'.repeat(wordDigits) + masked.slice(from + wordDigits)
    }
  }
  return masked === runtime.code ? (values as Immutables<R>) : undefined
}
