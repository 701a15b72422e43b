/** The command as `npm run privacy` starts it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the command plays its histories', async () => {
  const command = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--payments', '20', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ traffic: { payments: 20 } })
})
