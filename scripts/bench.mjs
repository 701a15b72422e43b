// `npm run bench`: installs and builds what is missing, then measures. `npm run bench -- --quick` takes a minute.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const [first, ...rest] = process.argv.slice(2)
const [script, args] = first === 'finalize' ? ['finalize.js', rest] : ['main.js', process.argv.slice(2)]
await run(process.execPath, [join(root, 'bench', 'dist', script), ...args])
