import { expect, test } from 'vitest'
import { driftedFiles } from '../build.mjs'

test('the generated ABIs and bytecode are what the sources compile to', () => {
  expect(driftedFiles()).toEqual([])
})
