/** Every promise has a test with its id, and every id in a test name exists. */
import { describe, expect, it } from 'vitest'
// @ts-expect-error scripts that run without a build have no types
import { findTests } from './gen/conformance.mjs'
// @ts-expect-error scripts that run without a build have no types
import { rows as rowTable } from './gen/rows.mjs'

const rows = rowTable as Record<string, string>
const tests = findTests() as Map<string, { file: string; title: string }[]>

describe('rows of the contract', () => {
  it('are all there', () => {
    expect(Object.keys(rows)).toHaveLength(131)
    for (const [id, text] of Object.entries(rows)) {
      expect(id).toMatch(/^R-\d{3}$/)
      expect(text.length).toBeGreaterThan(10)
    }
  })

  it.each(Object.keys(rows))('%s has a test', (id) => {
    expect(tests.get(id) ?? [], `no test names ${id}`).not.toEqual([])
  })

  it('are the only ones that tests name', () => {
    expect([...tests.keys()].filter((id) => !(id in rows))).toEqual([])
  })
})
