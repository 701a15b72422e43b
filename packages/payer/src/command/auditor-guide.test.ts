/** docs/guides/for-auditors.md: its commands print what it shows. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { blocksOf, pairsOf, runShell } from '../../../../test/support/guide-blocks.js'

const samples = fileURLToPath(new URL('../../../../test/vectors/statement/', import.meta.url))

it('the guide for auditors shows commands that work, with the output that they print', async () => {
  const pairs = pairsOf(blocksOf('for-auditors.md'))
  expect(pairs).toHaveLength(4)
  const folder = mkdtempSync(join(tmpdir(), 'svc-auditor-'))
  try {
    for (const { typed, output } of pairs) {
      const printed = await runShell(typed.replaceAll('test/vectors/statement/', samples), folder)
      // What was not compared is said on standard error, which people see and a pipe does not.
      expect(printed.replace(/^warning: .*\n/gm, '')).toBe(output)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
