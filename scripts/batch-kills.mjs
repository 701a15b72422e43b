// `npm run test:batch`: 200 payments to finalized by batch mints, while every process is killed at random instants; about
// half an hour.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const env = { CRASH_PAYMENTS: '200', CRASH_MINTS: 'batch', ...process.env }
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
await run(process.execPath, [vitest, 'run', 'test/crash/finalize-kills.test.ts'], { env })
