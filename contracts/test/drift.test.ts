import { expect, test } from 'vitest'
import { driftedFiles } from '../build.mjs'
import { compile, solidityFiles } from '../compiler.mjs'
import { generatedFiles } from '../generated-files.mjs'

// The input of the Solidity tests, which is compiled once for both.
const compilation = compile([...solidityFiles('src'), ...solidityFiles('test')])

test('the generated ABIs and bytecode are what the sources compile to', () => {
  expect(driftedFiles(generatedFiles(compilation))).toEqual([])
})
