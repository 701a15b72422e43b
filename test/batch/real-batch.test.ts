/** The tour of `npm start -- --batch`: two payments, minted as one sum by a real proof of a decider. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../../scripts/source-files.js'

it('R-114 two payments are minted as one sum by the proof of a decider', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-batch-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const ports = ['chain', 'facilitator', 'shop', 'storefront'].flatMap((name) => [`--${name}-port`, '0'])
  const options = ['--once', '--batch', '--decider', '--dir', directory, '--block-time', '0', ...ports]
  const start = join(root, 'scripts', 'start.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, [start, ...options])
  expect(stdout.match(/accepted: burned in 0x/g)).toHaveLength(2)
  expect(stdout).toMatch(/the permit payment: finalized/)
  expect(stdout).toMatch(/the self-transfer: finalized/)
  expect(stdout).toMatch(/the provider has 0\.251 zUSD more, minted/)
  const log = readFileSync(join(directory, 'facilitator.log'), 'utf8')
  expect(log.match(/"event":"batch\.proving","payments":\d+/g)).toEqual([
    '"event":"batch.proving","payments":2',
  ])
  // It does not recommend what was just done.
  expect(stdout.slice(stdout.indexOf('Private?'))).not.toContain('--batch')
})
