// Bundles each command with everything it imports into a few files. Node then reads twenty files instead of a thousand,
// and a daemon starts in half the processor time. Runs after `tsc -b`, and before every run of Vitest.
// A bundle that is newer than its sources is left alone. `node scripts/bundle.mjs NAME …` makes only those.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
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
const external = ['libsql', 'tiny-secp256k1', '@modelcontextprotocol/*']

/** Licences whose text is enough to pass a copy on. */
const licences = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
])

/** Vitest calls this before the first test. */
export async function setup() {
  await bundlePages(pages)
  await bundleAll(Object.keys(started))
}

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

/**
 * Styles and scripts of pages, as strings of one module in the package that serves them, because what bundles a seller's
 * server reads no other files. Scripts know the reasons that end a payment by their codes alone: their words come with
 * each answer.
 */
const pages = [
  {
    module: 'packages/resource-server/built/paywall.js',
    sources: { script: 'paywall/main.ts', style: 'paywall/paywall.css' },
  },
  {
    module: 'packages/facilitator/built/pages.js',
    sources: { dashboard: 'dashboard/main.ts', history: 'history/main.ts', style: 'app.css' },
  },
  {
    module: 'packages/devnet/built/storefront.js',
    sources: {
      script: 'storefront/main.ts',
      style: 'storefront/storefront.css',
      addedStyle: 'storefront/journey.css',
    },
  },
  {
    module: 'tools/observer/built/report.js',
    sources: { script: 'report/main.ts', style: 'report/report.css' },
    isFile: true,
  },
]

async function bundlePages(wanted) {
  const { reasons } = await import('@svc-zerc20/protocol')
  const atAnEnd = Object.keys(reasons).filter(
    (code) => reasons[code].status === 200 && /^(?:never|fresh_offer)$/.test(reasons[code].retry),
  )
  await Promise.all(
    wanted.map((page) => bundlePage(page, { REASONS_AT_AN_END: JSON.stringify(atAnEnd.join(' ')) })),
  )
}

async function bundlePage({ module, sources, isFile = false }, define) {
  const path = (source) => join(root, 'packages', 'pages', 'src', source)
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, path(source)])),
    outdir: dirname(join(root, module)),
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    // Private keys of issuers need it. Nothing of theirs is left in a page.
    external: ['node:crypto'],
    format: 'iife',
    target: ['es2022', 'chrome111', 'firefox111', 'safari16.4'],
    define,
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
  })
  const texts = outputFiles.map(({ path, text }) => {
    // It may not end its element early.
    if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${path} would end its element`)
    return [basename(path).split('.')[0], text.trim()]
  })
  const exported = texts.map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}\n`)
  mkdirSync(dirname(join(root, module)), { recursive: true })
  const others = licencesOf(Object.keys(metafile.inputs))
  if (others !== '') writeUnlessSame(join(root, dirname(module), 'LICENSES.txt'), others)
  writeUnlessSame(join(root, module), isFile ? fileModule(Object.fromEntries(texts)) : exported.join(''))
}

/** A module that makes pages which are files, and load nothing. What such a page shows stands in it as JSON. */
function fileModule({ script, style }) {
  const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = `default-src 'none';style-src ${hashOf(style)};script-src ${hashOf(script)}`
  const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="${policy}">
<title>Report</title>
<style>${style}</style>
<script>${script}</script>
<script type="application/json" id="report">`
  return `const head = ${JSON.stringify(head)}
export const pageOf = (report) => head + JSON.stringify(report).replaceAll('<', '\\u003c') + '</script></html>\\n'
`
}

function writeUnlessSame(path, text) {
  if (changedAt(path) !== undefined && readFileSync(path, 'utf8') === text) return
  // Another process may be reading it.
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
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
  if (names.length === 0) await setup()
  else {
    // The bundle of a command has its pages in it.
    await bundlePages(
      pages.filter(({ module }) => names.some((name) => module.startsWith(`packages/${name}/`))),
    )
    await bundleAll(names)
  }
}
