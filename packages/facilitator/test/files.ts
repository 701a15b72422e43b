/** Files for the tests of one test file: each gets its own folder, and all are gone at the end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export function temporaryFiles() {
  const path = mkdtempSync(join(tmpdir(), 'svc-facilitator-'))
  afterAll(() => rmSync(path, { recursive: true, force: true }))
  const folder = () => mkdtempSync(join(path, 'part-'))
  return {
    path,
    folder,
    write(name: string, text: string): string {
      const file = join(folder(), name)
      writeFileSync(file, text)
      return file
    },
  }
}
