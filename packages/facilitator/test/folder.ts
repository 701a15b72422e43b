/** Folders of a test, gone with it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const memory = '/dev/shm'

/** `isQuick`: in memory where the system has a place for that, because the test models what a disk would have. */
export function temporaryFolder({ isQuick = false } = {}): string {
  const parent = isQuick && existsSync(memory) ? memory : tmpdir()
  const folder = mkdtempSync(join(parent, 'svc-journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
