// The commands of this tree, such as `npm run devnet` and `npm run bench`: the program's file, then its own arguments.
// Installs and builds first if needed, but for `--help`: that is answered from what is built. Never uses `npx` with a bare name,
// which asks the public registry for unknown commands.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './children.mjs'
import { isHelp } from './help.mjs'
import { root, setup } from './setup.mjs'

const [program = '', ...args] = process.argv.slice(2)
const isBench = program.startsWith('tools/bench/')

if (!isHelp(args)) {
  // Only those that start a network of their own need the development keys. A bench compiles a contract, too.
  await setup({ keys: isBench || program.startsWith('packages/devnet/'), tools: isBench })
} else if (!existsSync(join(root, 'packages/protocol/dist'))) {
  const name = process.env.npm_lifecycle_event ?? 'NAME'
  process.stdout.write(
    `Usage: npm run ${name} -- [options]\n\nNothing is built in this clone yet. After \`npm run build\` this lists the options.\n`,
  )
  process.exit(0)
}
// Runs in the caller's folder, so that relative paths work. Runs in its own process group, so that a signal of the
// terminal reaches it only through this script, and once.
const { ended } = start(process.execPath, [join(root, program), ...args], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  detached: true,
})
process.exit(await ended)
