// `npm test`: installs and builds what is missing, then runs every test but two batteries. Arguments go to Vitest.
// Circuits compiled one by one, batches with real proofs, and packages as strangers install them have commands of their
// own: `npm test` proves single mints with the real circuits, and runs the built commands, anyway.
// `npm run test:crash` and `npm run test:fuzz` run some of them many times as often.
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

const oftener = {
  // Kills of the daemon, faults of everything around three of them, payments of every kind of fee and mint to finalized,
  // power failures, kills of payers that spend at once. Two hours.
  crash: {
    env: {
      CRASH_KILLS: '500',
      CRASH_ROUNDS: '500',
      CRASH_SHARES: '200',
      POWER_FAILURES: '5000',
      SPEND_KILLS: '200',
    },
    files: [
      'test/crash',
      'packages/facilitator/src/store/engine/power-failure',
      'packages/payer/src/state/kills',
    ],
  },
  // Draws of requests, of contract calls, and of turns of an epoch.
  fuzz: {
    env: { CASES: '10000', FUZZ_RUNS: '256' },
    files: [
      'test/fuzz',
      'contracts/test/solidity',
      'contracts/test/batch-orders',
      'packages/facilitator/src/payment/epochs/tally.test.ts',
    ],
  },
}

const [first, ...rest] = process.argv.slice(2)
const daily = ['unit', 'chain', 'chain-engine', 'postgres', 'e2e'].flatMap((name) => ['--project', name])
const { env, files } = oftener[first] ?? { env: {}, files: first === undefined ? daily : [first] }

await setup()
// Proving processes are this nice, too. Beside tests that are not, a proof would wait until its test's time is over.
setPriority(Math.max(10, getPriority()))
await run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...files, ...rest], {
  env: { ...env, ...process.env },
})
