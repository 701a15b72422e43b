import { expect, it } from 'vitest'
import { nearestName } from './nearest-name.js'

const known = ['max_total', 'max_amount', 'settlement.journal']

it.each([
  ['a letter too few', 'max_totl', 'max_total'],
  ['a letter too many', 'max_ammount', 'max_amount'],
  ['another letter', 'max_tetal', 'max_total'],
  ['nothing alike', 'colour', undefined],
  ['more than a third of the letters', 'mx_tt', undefined],
])('%s: %s means %s', (_what, name, meant) => {
  expect(nearestName(name, known)).toBe(meant)
})

it('judges a key by its own letters, without those of its table', () => {
  expect(nearestName('settlement.jurnal', known, 'jurnal'.length)).toBe('settlement.journal')
  expect(nearestName('settlement.folder', known, 'folder'.length)).toBeUndefined()
})
