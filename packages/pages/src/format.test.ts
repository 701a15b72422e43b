import { expect, it } from 'vitest'
import { csv } from './format.js'

it('an exported cell is a text for a spreadsheet, whatever somebody wrote into it', () => {
  const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1']
  const cells = hostile.map((text) => csv(['x'], [[text]]).slice('x\r\n'.length))
  for (const cell of cells) expect(cell).toMatch(/^"?'/)
  expect(
    csv(
      ['a', 'b'],
      [
        ['says "no", twice', undefined],
        [7n, 'two\nlines'],
      ],
    ),
  ).toBe('a,b\r\n"says ""no"", twice",\r\n7,"two\nlines"')
})
