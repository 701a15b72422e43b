// `npm test`: installs and builds what is missing, then runs every test but two batteries. Arguments go to Vitest.
// Circuits compiled one by one, batches with real proofs, and packages as strangers install them have commands of their
// own: `npm test` proves single mints with the real circuits, and runs the built commands, anyway.
// `npm run test:crash`, `npm run test:fuzz` and `npm run test:sim` run some of them many times as often.
import { availableParallelism, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { start } from './children.mjs'
import { answerHelp } from './help.mjs'
import { root, run, setup } from './setup.mjs'

answerHelp(`Usage: npm test -- [files and options of Vitest]

Installs and builds what is missing, then runs every test but those of circuits and packages, or the files that are named.

  npm run test:unit, test:chain, test:e2e, test:circuits   one part of them, with the same options
  npm run test:crash, test:fuzz                            kills and random requests, many times as often
  npm run test:sim -- --seeds N | --seed S                 daemons in simulated time: N histories of faults, or one again
`)

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

/** Histories from which on every core simulates its share of them. */
const sharedFrom = 1_000

const [first, ...given] = process.argv.slice(2)
const daily = ['unit', 'chain', 'chain-engine', 'postgres', 'e2e'].flatMap((name) => ['--project', name])
const {
  env = {},
  envs = [env],
  files,
  rest = given,
} = first === 'sim' ? simulation(given) : (oftener[first] ?? { files: first === undefined ? daily : [first] })

/** `--seeds N` simulates so many histories, and `--seed S` begins with that one; alone it is the only one. */
function simulation(args) {
  const { values, tokens } = parseArgs({
    args,
    options: { seeds: { type: 'string' }, seed: { type: 'string' } },
    strict: false,
    tokens: true,
  })
  const isOurs = ({ kind, name }) => kind === 'option' && (name === 'seeds' || name === 'seed')
  const taken = new Set(
    tokens.filter(isOurs).flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1])),
  )
  const { seeds, seed } = values
  return {
    envs:
      Number(seeds) >= sharedFrom
        ? sharesOf(Number(seeds), Number(seed ?? 1))
        : [
            {
              ...(seeds !== undefined && { SIM_SEEDS: seeds }),
              ...(seed !== undefined && { SIM_SEED: seed }),
            },
          ],
    files: ['packages/facilitator/src/start/simulation.test.ts'],
    rest: args.filter((_, i) => !taken.has(i)),
  }
}

function sharesOf(seeds, from) {
  const cores = availableParallelism()
  const share = Math.ceil(seeds / cores)
  return Array.from({ length: cores }, (_, i) => ({
    SIM_SEEDS: `${Math.min(share, seeds - i * share)}`,
    SIM_SEED: `${from + i * share}`,
  }))
}

const needsBrowser = [...files, ...rest].some((name) => name === 'daily' || name === 'e2e')
await Promise.all([
  setup({ tools: true, types: true }),
  needsBrowser && run(process.execPath, [join(root, 'scripts', 'browser.mjs')]),
])
// Proving processes are this nice, too. Beside tests that are not, a proof would wait until its test's time is over.
setPriority(Math.max(10, getPriority()))
const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...files, ...rest]
const runs = envs.map((own) =>
  start(process.execPath, vitest, { cwd: root, stdio: 'inherit', env: { ...own, ...process.env } }),
)
const codes = await Promise.all(runs.map(({ ended }) => ended))
process.exit(codes.find((code) => code !== 0) ?? 0)
