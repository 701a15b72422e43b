// `npm run devnet`, `npm run facilitator`, `npm run indexer`, `npm run pay`: the commands of this tree. Installs and
// builds first if needed. Never uses `npx` with a bare name, which asks the public registry for unknown commands.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './children.mjs'
import { root, setup } from './setup.mjs'

const [name = '', ...args] = process.argv.slice(2)
if (!existsSync(join(root, 'packages', name, 'package.json'))) throw new Error(`no package ${name}`)

const { bin } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))

await setup({ keys: name === 'devnet' })
// Runs in the caller's folder, so that relative paths work. Runs in its own process group, so that a signal of the
// terminal reaches it only through this script, and once.
const { ended } = start(process.execPath, [join(root, 'packages', name, Object.values(bin)[0]), ...args], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  detached: true,
})
process.exit(await ended)
