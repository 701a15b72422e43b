import { describe, expect, it } from 'vitest'
import { type ReadField, readerOf } from './generated-reader.js'

const field = (name: string, first: number, sure?: number): ReadField => ({
  name,
  first,
  fromGroups: (groups, at) => groups[at],
  sure,
})

describe('a generated reader', () => {
  it('makes an object with the event, and without the fields that are missing', () => {
    const read = readerOf<object>([field('payTo', 0), field('helper', 1, 1), field('at', 2)], 'ledger_bound')
    expect(read(['line', 'a', 'b', 'c'], 1)).toEqual({
      event: 'ledger_bound',
      payTo: 'a',
      helper: 'b',
      at: 'c',
    })
    expect(Object.keys(read(['line', 'a', undefined, 'c'], 1))).toEqual(['event', 'payTo', 'at'])
  })

  it('keeps text of a line as text, whatever it says', () => {
    const text = "' }), process.exit(1), ({ a: '"
    expect(readerOf<object>([field('raw', 0)])([text], 0)).toEqual({ raw: text })
  })

  it('is refused for a name that is more than a name', () => {
    const read = (name: string, event?: string) => () => readerOf<object>([field(name, 0)], event)(['x'], 0)
    expect(read('a: 1, b')).toThrow('is no name for a field')
    expect(read('a', "x', y: '")).toThrow('is no name for a field')
  })
})
