// `npm run test:crash`: the crash tests with 500 random kills of the daemon, 200 payments of every
// kind of fee and mint to finalized, and 200 kills of payers that spend at once, instead of the few of `npm test`; about an hour.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const suites = ['test/crash', 'packages/payer/src/state/kills.test.ts']
const env = {
  CRASH_KILLS: '500',
  CRASH_SHARES: '200',
  SPEND_KILLS: '200',
  ...process.env,
}
await run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...suites], {
  env,
})
