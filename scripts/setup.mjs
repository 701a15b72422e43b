// Makes a fresh clone runnable: installs the locked dependencies, and builds when a source was changed.
// Plain JavaScript with no dependency, because it runs before anything is installed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start } from './children.mjs'
import { isBuilt, noteBuild, sourcesOf } from './stamp.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const stampFile = join(root, 'node_modules', '.svc-installed')

const lockHash = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')

/** Progress of the set-up is no output of the command that it prepares. */
const progress = { stdio: ['inherit', process.stderr, 'inherit'] }

/** Runs a command in the repository with inherited output; exits with its code when it fails. */
export async function run(command, args, options = {}) {
  const code = await start(command, args, { cwd: root, stdio: 'inherit', ...options }).ended
  if (code !== 0) process.exit(code)
}

/**
 * What tests and checks need is more than half of everything. A first run does without it; once it is there, it stays.
 */
async function installIfNeeded(tools) {
  const everything = tools || existsSync(join(root, 'node_modules', 'vitest'))
  const wanted = `${lockHash()} ${everything ? 'everything' : 'without tests'}`
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  process.stderr.write('Installing dependencies (up to a minute the first time) …\n')
  // `npm ci` would need lockfile entries for the native builds of every platform, and the lockfile has only those of
  // Linux. `install` takes the locked versions and adds the builds for the platform at hand.
  const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', ...flags, ...(everything ? [] : ['--omit=dev'])], progress)
  writeFileSync(stampFile, wanted)
}

/**
 * Removes built files whose source is gone. The compiler never removes them: they hide mistakes, and a package would
 * carry them.
 */
export function removeLeftovers(workspace) {
  const built = /\.(?:js|d\.ts)(?:\.map)?$/
  const dist = join(root, workspace, 'dist')
  if (!existsSync(dist)) return
  for (const path of readdirSync(dist, { recursive: true }).filter((path) => built.test(path))) {
    const source = path.replace(built, '.ts')
    // The sources of contracts/ stand beside src/, which has Solidity.
    const places = [join(root, workspace, 'src', source), join(root, workspace, source)]
    if (!places.some((place) => existsSync(place))) rmSync(join(dist, path))
  }
}

/**
 * `keys: false` leaves out the circuits and their development keys, which only a network of one's own needs. `tools: true`
 * also installs what tests, checks and benches need. `types: true` checks the types of all sources, which whoever only
 * runs them does not wait for.
 */
export async function setup({ keys = true, tools = false, types = false } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    process.stderr.write(`svc-zerc20 needs Node 20.19 or later; this is ${process.version}.\n`)
    process.exit(1)
  }
  await installIfNeeded(tools)
  if (!types && isBuilt(root)) return
  const sources = sourcesOf(root)
  const inside = (folder) => readdirSync(join(root, folder)).map((name) => join(folder, name))
  for (const workspace of ['contracts', 'circuits', 'examples', ...inside('packages'), ...inside('tools')])
    removeLeftovers(workspace)
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const compile = (...projects) =>
    run(process.execPath, [compiler, '-b', ...projects, ...(types ? [] : ['--noCheck'])], progress)
  // Keys take a quarter of a minute of two cores the first time, and nothing when they are there. What makes them is
  // built before the rest, so that the rest is built beside them.
  if (keys) await compile('circuits')
  await Promise.all([
    keys && run(process.execPath, [join(root, 'circuits', 'dist', 'main.js'), '--quiet'], progress),
    compile().then(() => run(process.execPath, [join(root, 'scripts', 'bundle.mjs')], progress)),
  ])
  noteBuild(root, sources)
}
