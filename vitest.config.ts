import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These make proofs of whole batches, under keys that take half a minute to make. */
const batchTests = ['contracts/test/batch-proofs.test.ts', 'test/batch/*.test.ts']

/** These load the chain's engine from sources of their own, and a process can have it only once. */
const engineTests = ['packages/devnet/src/**/*.chain.test.ts', 'contracts/test/solidity.test.ts']

/**
 * Files share what they import, because loading viem, snarkjs and fastify again for every file takes longer than many of
 * the files. Built workspaces are loaded by Node itself, as every other dependency.
 */
const common = {
  environment: 'node' as const,
  retry: 0,
  // Ends a test that hangs. No test may fail because the machine is slow.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  passWithNoTests: false,
  isolate: false,
  server: { deps: { external: [/\/dist\/.*\.js$/] } },
}

/**
 * Longest first: a file of minutes that began last would leave the other workers idle. Files of a project stay together,
 * because a worker ends, with all that it has loaded, when the next file is of another project.
 */
const slowestFirst = ['packages', 'e2e', 'circuits', 'chain-engine', 'chain', 'postgres', 'unit']

/** Files of a minute or so. In its first run on a machine Vitest knows no times, and would begin with the largest files. */
const longest = [
  ...[
    'fleet-faults.test',
    'fleet.test',
    'failover.test',
    'shares-kills.test',
    'devnet-command.test',
    'next.test',
    'kill-points.test',
    'journal-lost.test',
  ],
  ...['batch-withdraw.test', 'root.test', 'solidity.test', 'tally.chain.test', 'finalize.chain.test'],
  ...['follow.chain.test', 'root-job.chain.test'],
  ...['mcp.chain.test', 'main.chain.test', 'paid-goods.chain.test', 'pages/dashboard.test', 'paywall.test'],
  ...['simulation.test', 'prover.test'],
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ moduleId }: TestSpecification) =>
      longest.every((name) => !moduleId.endsWith(`/${name}.ts`))
    const rank = (file: TestSpecification) =>
      2 * slowestFirst.indexOf(file.project.name) + (isShort(file) ? 1 : 0)
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

// Projects by what a test needs: nothing, an embedded chain, the circuit compiler, the whole system as
// processes, or packages as strangers install them.
export default defineConfig({
  test: {
    // Tests start the commands from their bundles, which must not be older than what was built.
    globalSetup: './scripts/bundle.mjs',
    reporters: ['default', './scripts/summary-reporter.mjs'],
    // Twice as many as the smallest machine has cores: a test that waits for a block, a proof or a process needs none.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['{packages,tools}/*/src/**/*.test.ts', 'examples/src/*.test.ts', 'scripts/*.test.ts'],
          exclude: ['**/*.chain.test.ts', '**/store/postgres/**', '**/node_modules/**', '**/dist/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'chain',
          include: ['packages/*/src/**/*.chain.test.ts', 'contracts/test/**/*.test.ts'],
          exclude: [...engineTests, ...batchTests, '**/node_modules/**', '**/dist/**'],
        },
      },
      {
        test: { ...common, name: 'chain-engine', isolate: true, include: engineTests },
      },
      {
        test: {
          ...common,
          name: 'circuits',
          // Most of these compile circuits, in processes of their own.
          include: ['circuits/{src,test}/**/*.test.ts', ...batchTests],
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          globalSetup: ['./scripts/browser.mjs', './scripts/postgres.mjs'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/packages/**', ...batchTests, '**/node_modules/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'postgres',
          // The store's own tests once more, on a server.
          globalSetup: './test/support/postgres-project.ts',
          include: [
            'packages/facilitator/src/store/{adapters,postgres}/*.test.ts',
            'packages/facilitator/src/history/answers.test.ts',
          ],
        },
      },
      {
        test: {
          ...common,
          name: 'packages',
          include: ['test/packages/*.test.ts'],
        },
      },
    ],
  },
})
