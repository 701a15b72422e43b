// Makes a fresh clone runnable: installs the locked dependencies and builds changed sources.
// Plain JavaScript with no dependency, because it runs before anything is installed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start } from './children.mjs'

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

async function installIfNeeded() {
  const wanted = lockHash()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  process.stderr.write('Installing dependencies (about a minute the first time) …\n')
  // `npm ci` would need lockfile entries for the native builds of every platform, and the lockfile has only those of
  // Linux. `install` takes the locked versions and adds the builds for the platform at hand.
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], progress)
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

/** `keys: false` leaves out the circuits and their development keys, which only a network of one's own needs. */
export async function setup({ keys = true } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    process.stderr.write(`svc-zerc20 needs Node 20.19 or later; this is ${process.version}.\n`)
    process.exit(1)
  }
  await installIfNeeded()
  const inside = (folder) => readdirSync(join(root, folder)).map((name) => join(folder, name))
  for (const workspace of ['contracts', 'circuits', 'examples', ...inside('packages'), ...inside('tools')])
    removeLeftovers(workspace)
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b'], progress)
  await run(process.execPath, [join(root, 'scripts', 'bundle.mjs')], progress)
  // Circuits and their development keys: half a minute the first time, nothing when they are there.
  if (keys) await run(process.execPath, [join(root, 'circuits', 'dist', 'main.js'), '--quiet'], progress)
}
