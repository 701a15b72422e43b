import { expect, test } from 'vitest'
import { textTable } from './text-table.js'

test('columns are as wide as their widest cell, in whichever row it stands, and lines end with their text', () => {
  expect(
    textTable([
      ['a', 'bb', ''],
      ['longer', 'c'],
      ['d', '', 'last'],
    ]),
  ).toBe('a       bb\nlonger  c\nd           last\n')
  expect(textTable([])).toBe('')
})
