import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const command = fileURLToPath(new URL('../../dist/ceremony/main.js', import.meta.url))
const run = (...args: string[]) => spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' })

test('prints its commands when it is asked for help', () => {
  expect(run('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('contribute'),
    stderr: '',
  })
})

test.each([
  ['an unknown option', ['--nonsense'], /^Unknown option '--nonsense'/],
  ['a missing option', ['contribute'], /^--folder is missing/],
  ['no command', [], /^npm run ceremony/],
])('says what is wrong with %s, and prints its commands', (_, args, wrong) => {
  const { status, stdout, stderr } = run(...args)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(wrong)
  expect(stderr).toContain('contribute')
})
