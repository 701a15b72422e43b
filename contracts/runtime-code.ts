// Whether the code at an address is that of one of our contracts. The compiler leaves zeros where immutables belong and
// the constructor fills them in: apart from those words, code that differs is another contract.

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
 * The code says what a contract does, its immutables say to whom. Nobody has to run our constructor to put our code at
 * an address, so an immutable is worth what its caller compares it with.
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
      // One immutable is read at several places. Code in which they differ was not made by a constructor.
      if (values[name] !== undefined && values[name] !== word) return undefined
      values[name] = word
      masked = masked.slice(0, from) + '0'.repeat(wordDigits) + masked.slice(from + wordDigits)
    }
  }
  return masked === runtime.code ? (values as Immutables<R>) : undefined
}
