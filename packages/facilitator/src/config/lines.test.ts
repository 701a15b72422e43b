import { describe, expect, it } from 'vitest'
import { createLineFinder } from './lines.js'

describe('createLineFinder', () => {
  it('finds keys of every form that TOML has', () => {
    const lineOf = createLineFinder(
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
          'list.first',
          'list.last',
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
      'list.first': 24,
      'list.last': 27,
      'table.top': undefined,
      and: undefined,
    })
  })

  it('tells no line after what it does not understand, rather than a wrong one', () => {
    const lineOf = createLineFinder('good = 1\nbad ! 3\nlater = 2\n')
    expect([lineOf('good'), lineOf('later')]).toEqual([1, undefined])
  })

  it.each(['', 'a', 'a =', '"', 'a = """', 'a = [', 'a = {', '[', '[a', '"\\u12" = 1', 'a = "\\'])(
    'ends on the broken text %j',
    (text) => {
      expect(createLineFinder(text)('b')).toBe(undefined)
    },
  )
})
