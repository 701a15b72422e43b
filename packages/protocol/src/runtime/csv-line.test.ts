import { describe, expect, it } from 'vitest'
import { csvLine } from './csv-line.js'

describe('a cell of a CSV line', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\r\nb', '"a\r\nb"'],
    ['plain', 'plain'],
    [undefined, ''],
    [0n, '0'],
    [2n ** 256n - 1n, `${2n ** 256n - 1n}`],
  ])('%o is written as %j: a spreadsheet runs no formula and finds its borders', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`)
  })
})
