/** Finds the line of a key in a TOML text, because the parser that reads the values reports no positions. */
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'

/** The line of a key or table, counted from 1, or `undefined` when it was not found. */
export type LineOf = (path: string) => number | undefined

export function createLineFinder(text: string): LineOf {
  const lines = new Map<string, number>()

  /** Records the first place of a path: a text may name a table several times. */
  function found(path: readonly string[], { loc }: AST.TOMLKey): void {
    for (let depth = 1; depth <= path.length; depth++) {
      const name = path.slice(0, depth).join('.')
      // Without an index, the name of a repeated table means the first one.
      for (const spelling of [name, name.replace(/\[\d+\]/g, '')]) {
        if (!lines.has(spelling)) lines.set(spelling, loc.start.line)
      }
    }
  }

  function readPair(table: readonly string[], { key, value }: AST.TOMLKeyValue): void {
    const path = [...table, ...namesOf(key)]
    found(path, key)
    readValue(path, value)
  }

  function readValue(path: readonly string[], value: AST.TOMLContentNode): void {
    if (value.type === 'TOMLInlineTable') for (const pair of value.body) readPair(path, pair)
    if (value.type === 'TOMLArray') {
      for (const [place, element] of value.elements.entries()) readValue(placed(path, place), element)
    }
  }

  for (const node of parseUpToMistake(text)) {
    if (node.type === 'TOMLKeyValue') readPair([], node)
    else {
      let table: string[] = []
      for (const part of node.resolvedKey) {
        table = typeof part === 'number' ? placed(table, part) : [...table, part]
      }
      found(table, node.key)
      for (const pair of node.body) readPair(table, pair)
    }
  }
  return (path) => lines.get(path)
}

/** Parses a broken text up to its mistake: later keys have no line, instead of a wrong one. */
function parseUpToMistake(text: string): AST.TOMLTopLevelTable['body'] {
  const whole = parse(text)
  if (!(whole instanceof ParseError)) return whole
  const good = text.split('\n').slice(0, whole.lineNumber - 1)
  const before = parse(good.join('\n'))
  return before instanceof ParseError ? [] : before
}

function parse(text: string): AST.TOMLTopLevelTable['body'] | ParseError {
  try {
    return parseTOML(text, { tomlVersion: 'latest' }).body[0].body
  } catch (error) {
    if (error instanceof ParseError) return error
    throw error
  }
}

const namesOf = ({ keys }: AST.TOMLKey) => keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))

/** The path of a repeated table with its index: `sellers[0]`, `sellers[1]` and so on. */
const placed = (path: readonly string[], place: number) => [
  ...path.slice(0, -1),
  `${path.at(-1) ?? ''}[${place}]`,
]
