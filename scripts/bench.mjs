// `npm run bench`: installs and builds what is missing, then measures. `npm run bench -- --quick` takes a minute.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const [first, ...rest] = process.argv.slice(2)
const [command, args] = first === 'finalize' ? [first, rest] : ['compare', process.argv.slice(2)]
await run(process.execPath, [join(root, 'bench', 'dist', 'commands', `${command}.js`), ...args])
