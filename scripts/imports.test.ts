/** Imports point one way. This table is the architecture; ARCHITECTURE.md explains it. */
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listFiles, productFiles, readText } from './source-files.js'

const scope = '@svc-zerc20/'

/** Workspace → the workspaces of ours it may import. */
const allowed: Record<string, readonly string[]> = {
  contracts: [],
  circuits: ['zk'],
  'packages/protocol': [],
  'packages/evm': ['protocol', 'contracts'],
  'packages/daemon': ['protocol'],
  // Of the facilitator only the types of its answers.
  'packages/pages': ['protocol', 'statement', 'facilitator'],
  'packages/kernel': [],
  'packages/zk': ['protocol', 'kernel'],
  'packages/prover': ['protocol', 'daemon', 'zk', 'kernel'],
  'packages/resource-server': ['protocol'],
  'packages/statement': ['protocol'],
  'packages/payer': ['protocol', 'contracts', 'evm', 'statement'],
  'packages/facilitator': ['protocol', 'contracts', 'kernel', 'evm', 'daemon', 'zk', 'prover', 'statement'],
  'packages/indexer': ['protocol', 'contracts', 'evm', 'daemon', 'zk', 'prover'],
  'packages/devnet': [
    'protocol',
    'contracts',
    'circuits',
    'daemon',
    'zk',
    'facilitator',
    'indexer',
    'resource-server',
  ],
  examples: ['payer', 'resource-server'],
  'tools/observer': ['protocol', 'contracts', 'evm', 'zk'],
  'tools/bench': ['protocol', 'contracts', 'devnet', 'payer'],
}

/** A tool of this tree and no part of the package, which has no compiler. The benchmark compiles a peer's token with it. */
const solidityCompiler = '/contracts/compiler.mjs'

/** The type of a module that is built from a page's sources names the types that page and server share. */
const pageSources = 'pages/src/'

/**
 * Room → the rooms beside it that it may import. Files beside the rooms are shared: every room may import them, and the
 * starting points (`main.ts`, `command-line.ts`, `index.ts`, `indexer.ts`) may import everything.
 */
const rooms: Record<string, Record<string, readonly string[]>> = {
  'packages/facilitator/src': {
    // The flow, and the log and metrics of it.
    payment: [],
    telemetry: ['payment', 'config'],
    // The operator's settings, keys and limits.
    config: [],
    // The adapters.
    chain: ['payment', 'telemetry', 'config'],
    sending: ['payment', 'telemetry', 'config', 'chain'],
    proving: ['payment', 'telemetry', 'config', 'chain'],
    addresses: ['payment', 'config'],
    store: ['payment', 'config', 'chain', 'addresses'],
    history: ['payment', 'telemetry', 'config', 'chain', 'store'],
    // What callers and operators see.
    http: ['payment', 'telemetry', 'config', 'chain', 'addresses', 'store', 'history'],
    // The wiring.
    start: [
      'payment',
      'telemetry',
      'config',
      'chain',
      'sending',
      'proving',
      'addresses',
      'store',
      'history',
      'http',
    ],
    // What operators type.
    commands: [
      'payment',
      'telemetry',
      'config',
      'chain',
      'proving',
      'addresses',
      'store',
      'history',
      'http',
      'start',
    ],
  },
  'packages/protocol/src': { runtime: [] },
  'packages/zk/src': { artifacts: [] },
  'packages/prover/src': { decider: [] },
  'packages/indexer/src': {
    chain: [],
    store: ['chain'],
    sync: ['chain', 'store'],
    root: ['chain', 'store'],
    http: ['store'],
  },
  'packages/resource-server/src': {
    facilitator: [],
    visits: [],
    offers: ['facilitator'],
    scheme: ['facilitator', 'visits', 'offers'],
    // Two ways to sell: a handler behind a gate, on one of three web frameworks, or a tool over MCP.
    served: [],
    paywall: [],
    gate: ['facilitator', 'visits', 'offers', 'scheme', 'served', 'paywall'],
    frameworks: ['visits', 'scheme', 'served', 'gate'],
    mcp: ['facilitator', 'offers', 'scheme', 'served'],
  },
  'packages/payer/src': {
    // What is remembered, and what may be spent of it.
    state: [],
    policy: ['state'],
    // The operator's settings.
    environment: ['state', 'policy'],
    // From leave to signature, and from signature to the resource.
    signing: ['state', 'policy'],
    delivery: ['state', 'policy', 'signing'],
    // Wiring, and what people type.
    payer: ['state', 'policy', 'environment', 'signing', 'delivery'],
    mcp: ['state', 'policy', 'delivery', 'payer'],
    command: ['state', 'policy', 'environment', 'signing', 'delivery', 'payer', 'mcp'],
  },
  'tools/observer/src': {
    // The observer takes the public record of a chain, and knows neither the simulation nor the scores.
    observe: [],
    simulate: [],
    record: [],
    report: ['observe', 'simulate'],
  },
  'packages/devnet/src': {
    node: [],
    deploy: ['node'],
    network: ['node', 'deploy'],
    storefront: ['node', 'deploy', 'network'],
  },
  'circuits/src': {
    compiler: [],
    files: [],
    'development-setup': ['files'],
    artifacts: ['compiler', 'files', 'development-setup'],
    ceremony: ['compiler', 'files', 'development-setup', 'artifacts'],
  },
  'tools/bench/src': {
    processes: [],
    inputs: [],
    measure: ['processes', 'inputs'],
    commands: ['processes', 'inputs', 'measure'],
  },
}

const startingPoint = /^(?:main|command-line|index|indexer)\.ts$/

const specifiers = (file: string): string[] =>
  [
    ...readText(file).matchAll(
      /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? '')

const workspaceOf = (file: string): string =>
  Object.keys(allowed).find((workspace) => file.startsWith(`${workspace}/`)) ?? 'unknown'

/** The files of the same workspace that a file imports. */
const neighbours = (file: string): string[] =>
  specifiers(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(file), specifier).replace(/\.js$/, '.ts'))

/** One circle, as the nodes along it, or undefined when there is none. */
function findCircle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const path: string[] = []
  function visit(node: string): string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next)
      if (circle) return circle
    }
    path.pop()
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const circle = visit(node)
    if (circle) return circle
  }
  return undefined
}

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
        .filter((specifier) => !specifier.endsWith(solidityCompiler))
        .filter((specifier) => !(file.includes('/built/') && specifier.includes(pageSources)))
        .map((specifier) => `${file} imports ${specifier}`)
    })
    expect(escaping).toEqual([])
  })

  it('from file to file without a circle, in products, tests and scripts', () => {
    const all = listFiles(/\.(?:ts|mts|mjs)$/)
    expect(findCircle(new Map(all.map((file) => [file, neighbours(file)])))).toBeUndefined()
  })

  describe.each(Object.entries(rooms))('between the rooms of %s', (source, table) => {
    const inside = files.filter((file) => file.startsWith(`${source}/`))
    const roomOf = (file: string): string | undefined => {
      const [room = '', ...rest] = file.slice(source.length + 1).split('/')
      return rest.length === 0 ? undefined : room
    }

    it('every room is in the table, and the table names no other', () => {
      const found = new Set(inside.map(roomOf).filter((room) => room !== undefined))
      expect([...found].toSorted()).toEqual(Object.keys(table).toSorted())
    })

    it('only along the table', () => {
      const forbidden = inside.flatMap((file) => {
        if (roomOf(file) === undefined) return []
        return neighbours(file)
          .map(roomOf)
          .filter((room) => room !== undefined && room !== roomOf(file))
          .filter((room) => !table[roomOf(file) ?? '']?.includes(room ?? ''))
          .map((room) => `${file} imports ${room}`)
      })
      expect([...new Set(forbidden)]).toEqual([])
    })

    it('the table itself has no circle', () => {
      expect(findCircle(new Map(Object.entries(table)))).toBeUndefined()
    })

    it('what all rooms share imports no room but the flow', () => {
      const forbidden = inside
        .filter((file) => roomOf(file) === undefined && !startingPoint.test(file.slice(source.length + 1)))
        .flatMap((file) => neighbours(file).map((target) => ({ file, room: roomOf(target) })))
        .filter(({ room }) => room !== undefined && room !== 'payment')
      expect(forbidden).toEqual([])
    })
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

  it('the daemons load the parts of viem they use: the whole of it takes a fifth of their start', () => {
    const daemons = /^packages\/(?:evm|daemon|facilitator|indexer)\//
    const whole = /(?:^|\n)import (?!type\b)[^'"]*from 'viem'/
    expect(files.filter((file) => daemons.test(file) && whole.test(readText(file)))).toEqual([])
  })

  it('the protocol does no I/O', () => {
    const forbidden = files
      .filter((file) => file.startsWith('packages/protocol/'))
      .filter((file) => specifiers(file).some((specifier) => specifier.startsWith('node:')))
    expect(forbidden).toEqual([])
  })
})
