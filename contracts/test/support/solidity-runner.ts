// Runs Foundry-style Solidity tests in EDR and hands the results over by suite and function name.
import {
  type Artifact,
  EdrContext,
  L1_CHAIN_TYPE,
  l1SolidityTestRunnerFactory,
  PRAGUE,
  type SuiteResult,
  type TestResult,
} from '@nomicfoundation/edr'
import { type Compilation, contractsDir } from '../../compiler.mjs'

/** Few in `npm test`: 256 take 34 seconds of the processor and 32 take 8. `npm run test:fuzz` makes 256. */
const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 32)
// Far above what any test needs, so that code which fails to bound a wasteful token ends instead of hanging.
const testGasLimit = 60_000_000n
// A fixed seed: the same sources give the same run, and a failure can be looked at again.
const fuzzSeed = '0x7376632d7a6572633230'

export type Suite = { readonly name: string; readonly source: string; readonly tests: readonly string[] }

/** Test contracts of a compilation and their test functions, in the order of the source's names. */
export function suitesOf({ contracts }: Compilation): Suite[] {
  return Object.entries(contracts)
    .filter(([source]) => source.endsWith('.t.sol'))
    .flatMap(([source, declared]) =>
      Object.entries(declared)
        .filter(([name]) => name.endsWith('Test'))
        .map(([name, { abi }]) => ({
          name,
          source,
          tests: abi.flatMap((entry) =>
            entry.type === 'function' && entry.name.startsWith('test') ? [entry.name] : [],
          ),
        })),
    )
}

/** `test_R_036_the_domain` → `R-036 the domain`. */
export function sentenceOf(functionName: string): string {
  return functionName
    .replace(/^test(Fuzz)?_/, '')
    .replace(/^R_(\d{3})_/, 'R-$1 ')
    .replaceAll('_', ' ')
}

/** Runs all suites; the result is keyed by `suite.function`. */
export async function runSuites(
  compilation: Compilation,
  suites: readonly Suite[],
): Promise<Map<string, TestResult>> {
  const context = new EdrContext()
  await context.registerSolidityTestRunnerFactory(L1_CHAIN_TYPE, l1SolidityTestRunnerFactory())
  const results = new Map<string, TestResult>()
  const solcVersion = compilation.solcVersion

  // The run's own promise can resolve before the last callbacks arrive, so every suite is waited for.
  let missing = suites.length
  await new Promise<void>((resolve, reject) => {
    const collect = (suite: SuiteResult) => {
      for (const result of suite.testResults) {
        results.set(`${suite.id.name}.${result.name.replace(/\(.*$/, '')}`, result)
      }
      missing -= 1
      if (missing === 0) resolve()
    }
    context
      .runSolidityTests(
        L1_CHAIN_TYPE,
        artifactsOf(compilation),
        suites.map(({ name, source }) => ({ name, source, solcVersion })),
        {
          projectRoot: contractsDir,
          hardfork: PRAGUE,
          gasLimit: testGasLimit,
          fuzz: { runs: fuzzRuns, seed: fuzzSeed },
          observability: {},
        },
        { buildInfos: [] },
        collect,
      )
      .catch(reject)
  })
  return results
}

/** Why a test failed, in one line: the revert and the fuzzed arguments that led to it. */
export function failureOf(result: TestResult): string {
  const example = result.counterexample
  const args = example && 'args' in example && example.args !== undefined ? ` with (${example.args})` : ''
  return `${result.reason ?? 'failed without a reason'}${args}`
}

function artifactsOf({ contracts, solcVersion }: Compilation): Artifact[] {
  return Object.entries(contracts).flatMap(([source, declared]) =>
    Object.entries(declared).map(([name, { abi, evm }]) => ({
      id: { name, source, solcVersion },
      contract: {
        abi: JSON.stringify(abi),
        ...(evm.bytecode.object && { bytecode: `0x${evm.bytecode.object}` }),
        ...(evm.deployedBytecode.object && { deployedBytecode: `0x${evm.deployedBytecode.object}` }),
        linkReferences: evm.bytecode.linkReferences,
        deployedLinkReferences: evm.deployedBytecode.linkReferences,
      },
    })),
  )
}
