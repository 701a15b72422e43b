// `npm run devnet`, `npm run facilitator`, `npm run indexer`, `npm run pay`: the commands of this tree, installed and built first when
// they are not. Never `npx` with a bare name: it asks the public registry for what it does not find here.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './children.mjs'
import { root, setup } from './setup.mjs'

const [name = '', ...args] = process.argv.slice(2)
if (!existsSync(join(root, 'packages', name, 'package.json'))) throw new Error(`no package ${name}`)

await setup()
// In the folder of the caller, where its paths begin. A group of its own: the terminal's signals come through us, once.
const { ended } = start(process.execPath, [join(root, 'packages', name, 'dist', 'main.js'), ...args], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  detached: true,
})
process.exit(await ended)
