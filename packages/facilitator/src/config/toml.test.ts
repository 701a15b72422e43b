import { describe, expect, it } from 'vitest'
import { readToml } from './toml.js'

/** The lines and values of a text that is TOML. */
function read(text: string) {
  const toml = readToml(text)
  if ('message' in toml) throw new Error(`line ${toml.line}: ${toml.message}`)
  return toml
}

describe('readToml', () => {
  it('finds keys of every form that TOML has, with their values', () => {
    const { values, lineOf } = read(
      [
        '# a comment = with signs [and] {brackets}', // 1
        'top = 1 # trailing = comment',
        '[table] # comment',
        'bare-key_1 = "a # no comment"',
        '"quoted.key" = \'it = is\'',
        "'literal' = 5", // 6
        'dotted . inside."deep" = true',
        'inline = { first = 1, second.third = "}" , list = [1, 2] }',
        'array = [ # comment ]',
        '  "a]", # another',
        '  { in_array = 1 },', // 11
        ']',
        'after_array = 2024-01-01T00:00:00Z',
        'text = """',
        'not_a_key = 1 \\""" still text',
        '"""', // 16
        "raw = '''",
        'neither = 1',
        "quotes at the end'''''",
        'after_text = -1.5e3',
        '[a.b . "c d"]', // 21
        'x = 1',
        '[[list]]',
        'first = 1',
        '[[list]]',
        'first = 2', // 26
        'last = 1',
      ].join('\r\n'),
    )
    expect(
      Object.fromEntries(
        [
          'top',
          'table',
          'table.bare-key_1',
          'table.quoted.key',
          'table.literal',
          'table.dotted.inside.deep',
          'table.dotted.inside',
          'table.inline.first',
          'table.inline.second.third',
          'table.inline.list',
          'table.array',
          'table.after_array',
          'table.text',
          'table.not_a_key',
          'table.neither',
          'table.after_text',
          'a.b',
          'a.b.c d.x',
          'list',
          'list[0].first',
          'list[1].first',
          'list[1].last',
          'table.top',
          'and',
        ].map((path) => [path, lineOf(path)]),
      ),
    ).toEqual({
      top: 2,
      table: 3,
      'table.bare-key_1': 4,
      'table.quoted.key': 5,
      'table.literal': 6,
      'table.dotted.inside.deep': 7,
      'table.dotted.inside': 7,
      'table.inline.first': 8,
      'table.inline.second.third': 8,
      'table.inline.list': 8,
      'table.array': 9,
      'table.after_array': 13,
      'table.text': 14,
      'table.not_a_key': undefined,
      'table.neither': undefined,
      'table.after_text': 20,
      'a.b': 21,
      'a.b.c d.x': 22,
      list: 23,
      'list[0].first': 24,
      'list[1].first': 26,
      'list[1].last': 27,
      'table.top': undefined,
      and: undefined,
    })
    expect(
      JSON.parse(JSON.stringify(values, (_, one) => (typeof one === 'bigint' ? `${one}n` : one))),
    ).toEqual({
      top: '1n',
      table: {
        ...{ 'bare-key_1': 'a # no comment', 'quoted.key': 'it = is', literal: '5n' },
        dotted: { inside: { deep: true } },
        inline: { first: '1n', second: { third: '}' }, list: ['1n', '2n'] },
        array: ['a]', { in_array: '1n' }],
        after_array: '2024-01-01T00:00:00.000Z',
        text: 'not_a_key = 1 """ still text\n',
        raw: "neither = 1\nquotes at the end''",
        after_text: -1500,
      },
      a: { b: { 'c d': { x: '1n' } } },
      list: [{ first: '1n' }, { first: '2n', last: '1n' }],
    })
  })

  it('keeps whole numbers exact, however large, and gives no key a meaning of its own', () => {
    const { values } = read(`large = 0x${'5'.repeat(64)}\n__proto__.admin = 1\n`)
    expect(values.large).toBe(BigInt(`0x${'5'.repeat(64)}`))
    expect(values.admin).toBeUndefined()
    expect(Object.keys(values)).toEqual(['large', '__proto__'])
  })

  it.each([
    ['good = 1\nbad ! hunter2\n', 2, 5],
    ['a = 1\na = "hunter2"\n', 2, 1],
    ['[t]\nx = 1\n[t]\n', 3, 2],
    ['a = hunter2', 1, 5],
  ])('says where %j is no TOML, without the text itself', (text, line, column) => {
    expect(readToml(text)).toEqual({
      message: expect.stringMatching(new RegExp(`^(?!.*hunter2).+ at column ${column}$`)),
      line,
    })
  })

  it.each(['a', 'a =', '"', 'a = """', 'a = [', 'a = {', '[', '[a', '"\\u12" = 1', 'a = "\\'])(
    'ends on the broken text %j',
    (text) => {
      expect(readToml(text)).toHaveProperty('message')
    },
  )
})
