/** The command as `npm run privacy` starts it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Surrounded } from './report/scenarios.js'

const ask = async (...words: string[]) => {
  const command = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  // A short wait is a short history.
  const few = ['--payments', '20', '--batch-wait-seconds', '600']
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...few, ...words])
  return stdout
}

it('the command plays its histories, and what it costs to surround a payment, from one account and from a company', async () => {
  const { traffic, surrounded } = JSON.parse(await ask('--json', '--batch-least', '7'))
  expect(traffic).toMatchObject({ payments: 20 })
  expect(surrounded.map(({ accounts, payments, cost }: Surrounded) => [accounts, payments, cost])).toEqual(
    [1, 7].flatMap((accounts) => [30, 40, 50, 60].map((count) => [accounts, count, `${count}0000`])),
  )
})

it('table and page have a line for each', async () => {
  const page = join(mkdtempSync(join(tmpdir(), 'svc-privacy-')), 'page.html')
  const text = await ask('--page', page)
  const label = '40 payments around it, from 20 accounts'
  expect(text).toMatch(/^from 20 accounts +40 +400000 +\d+ of 20 /m)
  expect(readFileSync(page, 'utf8')).toContain(label)
  rmSync(dirname(page), { recursive: true })
})
