// Compiles Solidity with npm solc. The input is complete (every import is in it), so its hash names the output and
// an unchanged input is answered from the cache instead of the ten seconds a compilation takes.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const contractsDir = dirname(fileURLToPath(import.meta.url))
const cacheDir = join(contractsDir, '.cache')
const require = createRequire(import.meta.url)

/** Of the codes only what is read. Their opcodes and source maps, and all syntax trees, are many times as long. */
const read = [
  'abi',
  ...['object', 'linkReferences'].map((part) => `evm.bytecode.${part}`),
  ...['object', 'linkReferences', 'immutableReferences'].map((part) => `evm.deployedBytecode.${part}`),
]

const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'prague',
  // Without the metadata hash, a changed comment does not change the bytecode.
  metadata: { bytecodeHash: 'none' },
}

/** Solidity files of a folder, as names relative to the contracts folder. */
export function solidityFiles(folder) {
  return readdirSync(join(contractsDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sol'))
    .map((entry) => relative(contractsDir, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** Compiles the named files and everything they import. Throws with solc's own words when it does not compile. */
export function compile(files) {
  const sources = collectSources(files)
  const outputSelection = { '*': { '*': read }, ...treesOf(sources) }
  const input = JSON.stringify({ language: 'Solidity', sources, settings: { ...settings, outputSelection } })
  const solcVersion = require('solc/package.json').version
  const name = createHash('sha256').update(solcVersion).update(input).digest('hex')
  const output = readCache(name) ?? writeCache(name, runSolc(input))
  return { solcVersion, ...output }
}

/** The one contract of that name, wherever it was declared. */
export function contractNamed(compilation, name) {
  for (const contracts of Object.values(compilation.contracts)) {
    if (contracts[name]) return contracts[name]
  }
  throw new Error(`no contract ${name} in the compilation`)
}

function collectSources(files) {
  const sources = {}
  const queue = [...files]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (sources[file]) continue
    const content = readFileSync(locate(file), 'utf8')
    sources[file] = { content }
    for (const [, target] of content.matchAll(/^\s*import\s[^;]*?["']([^"']+)["']\s*;/gm)) {
      queue.push(target.startsWith('.') ? posix.join(posix.dirname(file), target) : target)
    }
  }
  return Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The syntax trees say what the immutables are called; nothing else in the output does. */
function treesOf(sources) {
  const named = Object.keys(sources).filter((file) => /\bimmutable\b/.test(sources[file].content))
  return Object.fromEntries(named.map((file) => [file, { '': ['ast'] }]))
}

function locate(file) {
  return file.startsWith('@') ? require.resolve(file) : join(contractsDir, file)
}

function runSolc(input) {
  const output = JSON.parse(require('solc').compile(input))
  // A warning in what we deploy is an error; tests may be large, and dependencies are for others to judge.
  const problems = (output.errors ?? []).filter(
    ({ severity, sourceLocation }) => severity === 'error' || sourceLocation?.file.startsWith('src/'),
  )
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'))
  return { contracts: output.contracts, immutableNames: immutableNames(output.sources) }
}

/** Node id → name of every immutable declared in the sources. */
function immutableNames(sources) {
  const names = {}
  const look = (node) => {
    if (node.nodeType === 'VariableDeclaration' && node.mutability === 'immutable') names[node.id] = node.name
    for (const child of node.nodes ?? []) look(child)
  }
  for (const { ast } of Object.values(sources)) if (ast) look(ast)
  return names
}

function readCache(name) {
  try {
    return JSON.parse(readFileSync(join(cacheDir, `${name}.json`), 'utf8'))
  } catch {
    return undefined // Absent, or not worth reading: compile again.
  }
}

function writeCache(name, output) {
  mkdirSync(cacheDir, { recursive: true })
  // Renamed into place, so that a reader in another process never sees half a file.
  const draft = join(cacheDir, `${name}.${process.pid}.tmp`)
  writeFileSync(draft, JSON.stringify(output))
  renameSync(draft, join(cacheDir, `${name}.json`))
  return output
}
