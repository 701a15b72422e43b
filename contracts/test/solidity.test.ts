import type { TestResult } from '@nomicfoundation/edr'
import { beforeAll, describe, expect, test } from 'vitest'
import { compile, solidityFiles } from '../compiler.mjs'
import { failureOf, runSuites, sentenceOf, suitesOf } from './support/solidity-runner.js'

const compilation = compile([...solidityFiles('src'), ...solidityFiles('test')])
const suites = suitesOf(compilation)
// All suites run at once: seconds on an idle machine, minutes on one that builds other things meanwhile.
const runTimeoutMs = 300_000
let results: Map<string, TestResult>

beforeAll(async () => {
  results = await runSuites(compilation, suites)
}, runTimeoutMs)

for (const suite of suites) {
  describe(suite.name.replace(/Test$/, ''), () => {
    for (const name of suite.tests) {
      test(sentenceOf(name), () => {
        const result = results.get(`${suite.name}.${name}`)
        if (!result) throw new Error('the runner gave no result')
        expect(result.status, failureOf(result)).toBe('Success')
      })
    }
  })
}
