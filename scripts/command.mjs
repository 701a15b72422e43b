// The commands of this tree, such as `npm run devnet` and `npm run bench`: the program's file, then its own arguments.
// Installs and builds first if needed. Never uses `npx` with a bare name, which asks the public registry for unknown
// commands.
import { join } from 'node:path'
import { start } from './children.mjs'
import { root, setup } from './setup.mjs'

const [program = '', ...args] = process.argv.slice(2)

// Only those that start a network of their own need the development keys.
await setup({ keys: /^(?:packages\/devnet|tools\/bench)\//.test(program) })
// Runs in the caller's folder, so that relative paths work. Runs in its own process group, so that a signal of the
// terminal reaches it only through this script, and once.
const { ended } = start(process.execPath, [join(root, program), ...args], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  detached: true,
})
process.exit(await ended)
