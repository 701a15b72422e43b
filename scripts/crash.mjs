// `npm run test:crash`: the crash tests with 500 random kills, and 100 payments to finalized, instead of the few of
// `npm test`; about half an hour.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const env = { CRASH_KILLS: '500', CRASH_PAYMENTS: '100', ...process.env }
await run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/crash'], {
  env,
})
