// `npm test`: installs and builds what is missing, then runs every test. Arguments go to Vitest.
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
// Proving processes are this nice, too. Beside tests that are not, a proof would wait until its test's time is over.
setPriority(Math.max(10, getPriority()))
await run(process.execPath, [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  ...process.argv.slice(2),
])
