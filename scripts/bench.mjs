// `npm run bench`: installs and builds what is missing, then measures. `npm run bench -- --quick` takes a minute.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

setup()
run(process.execPath, [join(root, 'bench', 'dist', 'main.js'), ...process.argv.slice(2)])
