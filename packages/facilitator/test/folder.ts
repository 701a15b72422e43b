/** Folders of a test, gone with it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
