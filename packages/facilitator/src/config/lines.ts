/**
 * Where in a TOML text a key stands. The parser tells no positions, so this reads just enough of the grammar to
 * find keys: headers, dotted and quoted keys, inline tables, and whatever must be skipped to get past a value.
 * A text it does not understand has no lines from there on, rather than wrong ones.
 */

/** The line of a key or table, counted from 1; `undefined` when it is not in the text or was not found. */
export type LineOf = (path: string) => number | undefined

export function createLineFinder(text: string): LineOf {
  const lines = new Map<string, number>()
  const scan = createScanner(text, (path, line) => {
    // A table may come up again through its parts; the first place is where to look.
    for (let depth = 1; depth <= path.length; depth++) {
      const name = path.slice(0, depth).join('.')
      // Of several tables of one name, the plain name is the first.
      for (const spelling of [name, name.replace(/\[\d+\]/g, '')]) {
        if (!lines.has(spelling)) lines.set(spelling, line)
      }
    }
  })
  scan()
  return (path) => lines.get(path)
}

type Found = (path: readonly string[], line: number) => void

/** Thrown and caught in this file only: the text is not what the scanner expects. */
class Lost extends Error {}

function createScanner(text: string, found: Found): () => void {
  let at = 0
  let line = 1
  /** How often a table written as `[[name]]` came up. */
  const repeated = new Map<string, number>()

  const rest = () => text.slice(at, at + 3)

  function step(count = 1): void {
    for (let end = at + count; at < end; at++) if (text[at] === '\n') line++
  }

  /** Spaces, comments and, where the grammar allows them, line ends. */
  function skipBlank(acrossLines: boolean): void {
    for (; at < text.length; ) {
      const character = text[at]
      if (character === '#') while (at < text.length && text[at] !== '\n') at++
      else if (character === ' ' || character === '\t' || (acrossLines && /[\r\n]/.test(character ?? '')))
        step()
      else return
    }
  }

  function expect(character: string): void {
    if (text[at] !== character) throw new Lost()
    step()
  }

  /** Returns what stands between the quotes; escapes are resolved only where they matter, in keys. */
  function readString(): string {
    const quote = text[at] ?? ''
    const fence = rest() === quote.repeat(3) ? quote.repeat(3) : quote
    step(fence.length)
    const start = at
    while (!text.startsWith(fence, at)) {
      if (at >= text.length) throw new Lost()
      step(quote === '"' && text[at] === '\\' ? 2 : 1)
    }
    const content = text.slice(start, at)
    step(fence.length)
    // Up to two quotes may stand before the closing three.
    while (fence.length === 3 && text[at] === quote) step()
    return content
  }

  function readKey(): string[] {
    const path: string[] = []
    for (;;) {
      skipBlank(false)
      if (text[at] === '"') path.push(resolveEscapes(readString()))
      else if (text[at] === "'") path.push(readString())
      else path.push(readBareKey())
      skipBlank(false)
      if (text[at] !== '.') return path
      step()
    }
  }

  function readBareKey(): string {
    const start = at
    while (/[\w-]/.test(text[at] ?? '')) at++
    if (at === start) throw new Lost()
    return text.slice(start, at)
  }

  function readPair(table: readonly string[]): void {
    const keyLine = line
    const path = [...table, ...readKey()]
    found(path, keyLine)
    expect('=')
    skipBlank(false)
    readValue(path)
  }

  function readValue(path: readonly string[]): void {
    const character = text[at]
    if (character === '"' || character === "'") readString()
    else if (character === '{') readList('}', () => readPair(path))
    else if (character === '[') readList(']', () => readValue([...path, '']))
    else {
      const start = at
      while (at < text.length && !/[,\]}#\r\n]/.test(text[at] ?? '')) at++
      if (at === start) throw new Lost()
    }
  }

  function readList(end: string, readItem: () => void): void {
    step()
    for (;;) {
      skipBlank(true)
      if (text[at] === end) break
      readItem()
      skipBlank(true)
      if (text[at] === ',') step()
      else if (text[at] !== end) throw new Lost()
    }
    step()
  }

  function readHeader(): string[] {
    const brackets = text.startsWith('[[', at) ? 2 : 1
    const headerLine = line
    step(brackets)
    const path = readKey()
    found(path, headerLine)
    for (let i = 0; i < brackets; i++) expect(']')
    return brackets === 2 ? placed(path, headerLine) : path
  }

  /** The path of one of several tables of a name: `sellers[0]`, `sellers[1]` and so on. */
  function placed(path: readonly string[], headerLine: number): string[] {
    const name = path.join('.')
    const place = repeated.get(name) ?? 0
    repeated.set(name, place + 1)
    const one = [...path.slice(0, -1), `${path.at(-1)}[${place}]`]
    found(one, headerLine)
    return one
  }

  return () => {
    let table: string[] = []
    try {
      for (;;) {
        skipBlank(true)
        if (at >= text.length) return
        if (text[at] === '[') table = readHeader()
        else readPair(table)
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error
    }
  }
}

function resolveEscapes(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    throw new Lost()
  }
}
