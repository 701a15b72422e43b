import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** Every package that a file and the files it imports load at the start. Imports on demand are left out. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(
    /(?:^|\n)(?:import|export)\s(?!type\s)[^'"]*?from '([^']+)'/g,
  )
  for (const [, specifier = ''] of imports) {
    if (specifier.startsWith('.')) loadedBy(join(dirname(file), specifier.replace(/\.js$/, '.ts')), seen)
    else seen.add(specifier)
  }
  return seen
}

it('svc-pay loads the library of the chain for a payer alone, and not to describe itself', () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const session = fileURLToPath(new URL('session.ts', import.meta.url))
  const isViem = (name: string) => /^viem\b/.test(name)
  expect([...loadedBy(main)].filter(isViem)).toEqual([])
  expect([...loadedBy(session)].filter(isViem)).not.toEqual([])
})

it('svc-pay loads the MCP package for its tools alone', () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const tools = fileURLToPath(new URL('../mcp/serve.ts', import.meta.url))
  const isSdk = (name: string) => name.startsWith('@modelcontextprotocol/')
  expect([...loadedBy(main)].filter(isSdk)).toEqual([])
  expect([...loadedBy(tools)].filter(isSdk)).not.toEqual([])
})

it('svc-pay loads the libraries of statements for the commands about them alone', () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const statement = fileURLToPath(new URL('statement.ts', import.meta.url))
  const isStatement = (name: string) => name === '@svc-zerc20/statement'
  expect([...loadedBy(main)].filter(isStatement)).toEqual([])
  expect([...loadedBy(statement)].filter(isStatement)).not.toEqual([])
})
