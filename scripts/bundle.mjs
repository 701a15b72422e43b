// Bundles each command with everything it imports into a few files. Node then reads twenty files instead of a thousand,
// and a daemon starts in half the processor time. Runs after `tsc -b`, and before every run of Vitest.
// A bundle that is newer than its sources is left alone. `node scripts/bundle.mjs NAME …` makes only those.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from './setup.mjs'

/** Files that a command starts as a thread or a process. They keep their names and lie beside the command. */
const started = {
  facilitator: [
    'packages/facilitator/dist/addresses/miner-worker.js',
    'packages/facilitator/dist/proving/own-tree-worker.js',
    'packages/facilitator/dist/chain/signers/signer-worker.js',
    'packages/facilitator/dist/store/engine/engine-worker.js',
    'packages/prover/dist/proving-process.js',
  ],
  indexer: ['packages/prover/dist/proving-process.js'],
  payer: [],
}

/** These load a native library or a wasm file from their own folder, or are installed by those who want them. */
const external = ['classic-level', 'libsql', 'tiny-secp256k1', '@modelcontextprotocol/*']

/** Licences whose text is enough to pass a copy on. */
const licences = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT'])

/** Vitest calls this before the first test. */
export const setup = () => bundleAll(Object.keys(started))

async function bundleAll(names) {
  await Promise.all(names.map(bundle))
}

async function bundle(name) {
  const folder = join(root, 'packages', name, 'bundle')
  if (isFresh(folder)) return
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`packages/${name}/dist/main.js`, ...started[name]].map((path) => ({
      in: path,
      out: path.split('/').at(-1).replace(/\.js$/, ''),
    })),
    outdir: folder,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    external,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none',
    // CommonJS modules inside call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  })
  const inputs = Object.keys(metafile.inputs)
  replace(folder, [
    ...outputFiles.map(({ path, contents }) => [relative(folder, path), contents]),
    ['LICENSES.txt', licencesOf(inputs)],
    ['inputs.json', JSON.stringify(['package-lock.json', 'scripts/bundle.mjs', ...inputs])],
  ])
}

/** Nothing that went into the bundle was changed or removed after it was made. */
function isFresh(folder) {
  const noted = join(folder, 'inputs.json')
  const madeAt = changedAt(noted)
  if (madeAt === undefined) return false
  const inputs = JSON.parse(readFileSync(noted, 'utf8'))
  return inputs.every((path) => (changedAt(join(root, path)) ?? Number.POSITIVE_INFINITY) < madeAt)
}

/** The new folder takes the place of the old one whole. Of two that are made at once, one stays. */
function replace(folder, files) {
  const next = mkdtempSync(`${folder}-`)
  for (const [name, contents] of files) writeFileSync(join(next, name), contents)
  // A service runs as another user than the one who builds.
  chmodSync(next, 0o755)
  const old = mkdtempSync(`${folder}-`)
  renameUnless('ENOENT', folder, join(old, 'bundle'))
  renameUnless('ENOTEMPTY', next, folder)
  for (const left of [old, next]) rmSync(left, { recursive: true, force: true })
}

function renameUnless(code, from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (error.code !== code) throw error
  }
}

/** The licence texts of all bundled packages. Throws when one of them may not be passed on. */
function licencesOf(inputs) {
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  return [...new Set(folders)].sort().map(licenceIn).join('\n')
}

function licenceIn(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (!licences.has(license))
    throw new Error(`${name} has the licence ${license}, which scripts/bundle.mjs does not know`)
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each))
  const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8')
  return `${name} ${version}, ${license}\n\n${text}\n`
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  await (names.length === 0 ? setup() : bundleAll(names))
}
