/** Every promise of this version has a test with its id, and every id in a test name exists. */
import { describe, expect, it } from 'vitest'
// @ts-expect-error scripts that run without a build have no types
import { findTests } from './gen/conformance.mjs'
// @ts-expect-error scripts that run without a build have no types
import { rows as rowTable } from './gen/rows.mjs'

const rows = rowTable as Record<string, { text: string; later?: string }>
const tests = findTests() as Map<string, { file: string; title: string }[]>
const due = Object.keys(rows).filter((id) => rows[id]?.later === undefined)
const waiting = Object.keys(rows).filter((id) => rows[id]?.later !== undefined)

describe('rows of the contract', () => {
  it('are all there', () => {
    expect(Object.keys(rows)).toHaveLength(131)
    for (const [id, { text }] of Object.entries(rows)) {
      expect(id).toMatch(/^R-\d{3}$/)
      expect(text.length).toBeGreaterThan(10)
    }
  })

  it.each(due)('%s has a test', (id) => {
    expect(tests.get(id) ?? [], `no test names ${id}`).not.toEqual([])
  })

  it.each(waiting)('%s waits for a later version: a test would mean that it is kept now', (id) => {
    expect(tests.get(id) ?? []).toEqual([])
  })

  it('are the only ones that tests name', () => {
    expect([...tests.keys()].filter((id) => !(id in rows))).toEqual([])
  })
})
