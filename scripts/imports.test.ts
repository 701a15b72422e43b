/** Imports point one way. This table is the architecture; ARCHITECTURE.md explains it. */
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { productFiles, readText } from './source-files.js'

const scope = '@svc-zerc20/'

/** Workspace → the workspaces of ours it may import. */
const allowed: Record<string, readonly string[]> = {
  contracts: [],
  circuits: ['zk'],
  'packages/protocol': [],
  'packages/kernel': [],
  'packages/zk': ['protocol', 'kernel'],
  'packages/prover': ['zk', 'kernel'],
  'packages/resource-server': ['protocol'],
  'packages/payer': ['protocol', 'contracts'],
  'packages/facilitator': ['protocol', 'contracts', 'zk', 'prover'],
  'packages/indexer': ['protocol', 'contracts', 'zk', 'prover'],
  'packages/devnet': ['protocol', 'contracts', 'circuits', 'zk', 'facilitator', 'indexer', 'resource-server'],
  examples: ['payer', 'resource-server'],
  bench: [
    'protocol',
    'contracts',
    'circuits',
    'zk',
    'prover',
    'devnet',
    'facilitator',
    'payer',
    'resource-server',
  ],
}

const specifiers = (file: string): string[] =>
  [
    ...readText(file).matchAll(
      /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? '')

const workspaceOf = (file: string): string =>
  Object.keys(allowed).find((workspace) => file.startsWith(`${workspace}/`)) ?? 'unknown'

const staysIn = (folder: string, file: string, specifier: string): boolean =>
  specifier.startsWith('.') && join(dirname(file), specifier).startsWith(folder)

describe('imports point one way', () => {
  const files = productFiles()

  it('finds the product sources', () => {
    expect(files.length).toBeGreaterThan(80)
  })

  it('between workspaces only along the table', () => {
    const forbidden = files.flatMap((file) =>
      specifiers(file)
        .filter((specifier) => specifier.startsWith(scope))
        .map((specifier) => specifier.slice(scope.length).split('/')[0] ?? '')
        .filter((target) => !allowed[workspaceOf(file)]?.includes(target))
        .map((target) => `${file} imports ${target}`),
    )
    expect(forbidden).toEqual([])
  })

  it('never reaches into another workspace by a relative path', () => {
    const escaping = files.flatMap((file) => {
      const depth = file.slice(workspaceOf(file).length + 1).split('/').length - 1
      return specifiers(file)
        .filter((specifier) => (specifier.match(/\.\.\//g)?.length ?? 0) > depth)
        .map((specifier) => `${file} imports ${specifier}`)
    })
    expect(escaping).toEqual([])
  })

  it('the payment flow knows the protocol and nothing else: no chain client, no file, no clock', () => {
    const payment = 'packages/facilitator/src/payment/'
    const flow = files.filter((file) => file.startsWith(payment))
    expect(flow.length).toBeGreaterThan(8)
    const forbidden = flow.flatMap((file) =>
      specifiers(file)
        .filter((specifier) => !staysIn(payment, file, specifier) && specifier !== '@svc-zerc20/protocol')
        .map((specifier) => `${file} imports ${specifier}`),
    )
    expect(forbidden).toEqual([])
  })

  it('the protocol does no I/O', () => {
    const forbidden = files
      .filter((file) => file.startsWith('packages/protocol/'))
      .filter((file) => specifiers(file).some((specifier) => specifier.startsWith('node:')))
    expect(forbidden).toEqual([])
  })
})
