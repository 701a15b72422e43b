// `npm test`: installs and builds what is missing, then runs every test. Arguments go to Vitest.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
await run(process.execPath, [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  ...process.argv.slice(2),
])
