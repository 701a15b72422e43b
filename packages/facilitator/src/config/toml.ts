/** Reads a TOML text into values, and tells the line of each. */
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'

export type TomlTable = Readonly<Record<string, unknown>>

/** The line of a key or table, counted from 1, or `undefined` when it is not in the text. A list has `sellers[0]`. */
export type LineOf = (path: string) => number | undefined

export type TomlText = {
  /** Integers are bigint, other numbers are number. */
  readonly values: TomlTable
  readonly lineOf: LineOf
}

/** What is wrong with a text, without the text itself, which may hold a secret. */
export type TomlMistake = { readonly message: string; readonly line: number }

export const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

export function readToml(text: string): TomlText | TomlMistake {
  let nodes: AST.TOMLTopLevelTable['body']
  try {
    nodes = parseTOML(text, { tomlVersion: 'latest' }).body[0].body
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { message: `${error.message} at column ${error.column + 1}`, line: error.lineNumber }
  }
  const root = newTable()
  const lines = new Map<string, number>()
  for (const node of nodes) {
    if (node.type === 'TOMLKeyValue') putPair(root, [], node)
    else {
      found(node.resolvedKey, node.key)
      const table = tableAt(root, node.resolvedKey)
      for (const pair of node.body) putPair(table, node.resolvedKey, pair)
    }
  }
  return { values: root, lineOf: (path) => lines.get(path) }

  function putPair(table: NewTable, path: Path, { key, value }: AST.TOMLKeyValue): void {
    const names = key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))
    const whole = [...path, ...names]
    found(whole, key)
    tableAt(table, names.slice(0, -1))[names.at(-1) ?? ''] = read(whole, value)
  }

  function read(path: Path, node: AST.TOMLContentNode): unknown {
    if (node.type === 'TOMLArray') return node.elements.map((one, place) => read([...path, place], one))
    if (node.type === 'TOMLInlineTable') {
      const table = newTable()
      for (const pair of node.body) putPair(table, path, pair)
      return table
    }
    return node.kind === 'integer' ? node.bigint : node.value
  }

  /** The first place counts: a text may name a table several times. */
  function found(path: Path, { loc }: AST.TOMLKey): void {
    for (let depth = 1; depth <= path.length; depth++) {
      const name = spelled(path.slice(0, depth))
      if (!lines.has(name)) lines.set(name, loc.start.line)
    }
  }
}

type Path = readonly (string | number)[]
type NewTable = Record<string | number, unknown>

/** Without a prototype, so that no key of a text means anything to the language. */
const newTable = (): NewTable => Object.create(null)

/** The table at a path, made where it is missing. The parser let no value stand in the way. */
function tableAt(root: NewTable, path: Path): NewTable {
  let table = root
  for (const [depth, part] of path.entries()) {
    table[part] ??= typeof path[depth + 1] === 'number' ? [] : newTable()
    table = table[part] as NewTable
  }
  return table
}

const spelled = (path: Path): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1)
