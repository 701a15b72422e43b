import { isDeepStrictEqual } from 'node:util'

/** The text of a vector file: what it is about first, then its cases. */
export const vectorFile = (description, content) =>
  `${JSON.stringify({ description, ...content }, null, 2)}\n`

/** Stops the generator when the code disagrees with what the case says it must do. */
export function expectSame(name, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return
  const said = JSON.stringify({ actual, expected })
  throw new Error(`vector "${name}": the code does not do what the vector says: ${said}`)
}
