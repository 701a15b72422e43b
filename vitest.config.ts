import { defineConfig } from 'vitest/config'

const common = { environment: 'node', retry: 0, passWithNoTests: false } as const

// Projects by what a test needs: nothing, an embedded chain, the circuit compiler, or the whole system as processes.
export default defineConfig({
  test: {
    reporters: ['default', './scripts/summary-reporter.mjs'],
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          testTimeout: 30_000,
          include: ['packages/*/src/**/*.test.ts', 'scripts/*.test.ts'],
          exclude: ['**/*.chain.test.ts', '**/node_modules/**', '**/dist/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'chain',
          include: ['packages/*/src/**/*.chain.test.ts', 'contracts/test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...common,
          name: 'circuits',
          // Most of these compile circuits, in processes of their own.
          include: ['circuits/src/**/*.test.ts'],
          // Files share what they import: loading snarkjs anew takes longer than some of them.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
