/** The repository's own files, as git lists them: tracked, and new ones that are not ignored. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

export function listFiles(pattern: RegExp): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return listed.split('\n').filter((file) => pattern.test(file) && existsSync(join(root, file)))
}

export const readText = (file: string): string => readFileSync(join(root, file), 'utf8')

const testOnly = /\.test\.ts$|\.test-d\.ts$|\/(?:test|test-support|testing)\//

/** TypeScript that ships: no tests, no generated code. */
export const productFiles = (): string[] =>
  listFiles(/^(?:contracts|circuits|(?:packages|tools)\/[^/]+|examples)\/.*\.ts$/).filter(
    (file) => !testOnly.test(file) && !file.includes('/generated/'),
  )
