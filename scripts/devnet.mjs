// `npm run devnet`: the local network alone, without the payments of `npm start`.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

setup()
run(process.execPath, [join(root, 'packages/devnet/dist/main.js'), ...process.argv.slice(2)])
