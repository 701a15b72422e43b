import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('a field of the log has one type over all events, as stores of logs that make a column of each demand', () => {
  // The types are known to the compiler alone, so the declarations are read as text.
  const text = ['events.ts', '../payment/report.ts']
    .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    .join('\n')
  const types = new Map<string, Set<string>>()
  for (const [, name = '', type = ''] of text.matchAll(/\b(\w+)(?::| =) (?:field|optional)<([^>]+)>\(/g))
    types.set(name, (types.get(name) ?? new Set()).add(type))
  expect(types.get('block')).toEqual(new Set(['number']))
  expect(types.size).toBeGreaterThan(30)
  expect([...types].filter(([, ofName]) => ofName.size > 1)).toEqual([])
})
