// `npm run test:fuzz`: the fuzz tests of endpoints and contracts with many more draws than `npm test` makes.
import { join } from 'node:path'
import { root, run, setup } from './setup.mjs'

await setup()
const env = { CASES: '10000', FUZZ_RUNS: '256', ...process.env }
await run(
  process.execPath,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    'test/fuzz',
    'contracts/test/solidity',
    'contracts/test/batch-orders',
  ],
  { env },
)
