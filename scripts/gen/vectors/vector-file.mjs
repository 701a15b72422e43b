import { isDeepStrictEqual } from 'node:util'

/** The text of a vector file: its description, then its cases. */
export const vectorFile = (description, content) =>
  `${JSON.stringify({ description, ...content }, null, 2)}\n`

/** Stops the generator when the code's result differs from the case's expected result. */
export function expectSame(name, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return
  const said = JSON.stringify({ actual, expected })
  throw new Error(`vector "${name}": the code does not do what the vector says: ${said}`)
}
