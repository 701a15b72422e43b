/** The command as `npm run privacy` starts it: by the `bin` of its package. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const folder = new URL('..', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
  bin: Record<string, string>
}

it('the command of the package plays its histories', async () => {
  const command = fileURLToPath(new URL(Object.values(bin)[0] ?? '', folder))
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--payments', '20', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ traffic: { payments: 20 } })
})
