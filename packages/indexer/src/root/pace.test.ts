import { expect, test } from 'vitest'
import { createPace } from './pace.js'

test('before both proofs were made, a large one counts as two small ones', () => {
  const pace = createPace()
  expect(pace.stepMs()['root-64']).toBe(2 * pace.stepMs()['root-16'])
  pace.proved('root-16', 700)
  expect(pace.stepMs()).toEqual({ 'root-16': 700, 'root-64': 1_400 })
})

test('what was measured counts, the latest most, and the transaction comes on top', () => {
  const pace = createPace()
  pace.proved('root-16', 1_000)
  pace.proved('root-64', 9_000)
  pace.proved('root-64', 5_000)
  pace.submitted(200)
  expect(pace.stepMs()).toEqual({ 'root-16': 1_100, 'root-64': 7_100 })
})
