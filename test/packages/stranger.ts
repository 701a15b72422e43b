/** A folder outside the tree in which a stranger has installed our packages, and programs run there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** A Node to run with: its name, and the folder of its binary. */
export type Node = { readonly name: string; readonly bin: string }

export const hostNode: Node = { name: process.versions.node, bin: dirname(process.execPath) }

/** The Node at hand, or those that `npm run test:packages` names: `22.1.0=/folder/of/its/binary,…`. */
export function nodes(): readonly Node[] {
  const { PACKAGES_NODES: named } = process.env
  if (!named) return [hostNode]
  return named.split(',').map((entry) => {
    const [name = '', bin = ''] = entry.split('=')
    return { name, bin }
  })
}

/** Three installations instead of one, which `npm run test:packages` takes the time for. */
export const hasFolderPerRole = () => Boolean(process.env.PACKAGES_NODES)

/** Installs packages into an empty folder, as a user would: nothing of this tree is found from there. */
export async function createStranger(words: readonly string[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-stranger-')))
  const manifest = { name: 'stranger', private: true, type: 'module' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', ...quietly, ...words], { cwd: folder })

  const environment = (node: Node, env: Readonly<Record<string, string>>) => ({
    // Only system folders: a command that is not installed in the folder is not found.
    PATH: [node.bin, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: folder,
    NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    ...env,
  })

  return {
    folder,
    add: (from: string, name: string) => copyFileSync(from, join(folder, name)),
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),

    /**
     * Runs a command that is installed in the folder, `node` or `npx`, to its end. `--no` of npx makes it refuse what is not
     * installed, instead of fetching it.
     */
    async run(
      node: Node,
      command: readonly string[],
      env: Readonly<Record<string, string>> = {},
    ): Promise<Ended> {
      const [program = '', ...args] = command
      const installed = join(folder, 'node_modules', '.bin', program)
      const file = program === 'node' ? join(node.bin, 'node') : program === 'npx' ? program : installed
      const given = program === 'npx' ? ['--no', '--', ...args] : args
      const options = { cwd: folder, env: environment(node, env), timeout: 60_000 }
      return run(file, given, options).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
      )
    },

    /** Starts a program that runs until it is stopped. Resolves with the first match of `ready` in its output. */
    async start(node: Node, args: readonly string[], env: Readonly<Record<string, string>>, ready: RegExp) {
      const child = spawn(join(node.bin, 'node'), args, {
        cwd: folder,
        env: environment(node, env),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
      return { found: await firstMatch(child, ready), stop: () => void child.kill('SIGTERM'), ended }
    },

    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export type Stranger = Awaited<ReturnType<typeof createStranger>>

function firstMatch(child: ChildProcess, wanted: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        text += chunk
        const match = wanted.exec(text)
        if (match) resolve(match[1] ?? match[0])
      })
    }
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)))
  })
}

/** Bytes of the files of one package, without packages in it. */
export function packageBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : packageBytes(path)
    else if (entry.isFile()) bytes += readFileSync(path).length
  }
  return bytes
}

/** Folders of all packages that a package needs, itself included, as installed in `root`. */
export function neededBy(root: string, name: string, seen = new Set<string>(), from = root): Set<string> {
  const folder = findPackage(root, name, from)
  if (folder === undefined || seen.has(folder)) return seen
  seen.add(folder)
  const {
    dependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional)
  for (const needed of [...Object.keys(dependencies), ...peers]) neededBy(root, needed, seen, folder)
  return seen
}

function findPackage(root: string, name: string, from: string): string | undefined {
  for (let place = from; place.startsWith(root); place = dirname(place)) {
    const folder = join(place, 'node_modules', name)
    try {
      readFileSync(join(folder, 'package.json'))
      return folder
    } catch {
      // Not here: looked for one folder up, as Node does.
    }
  }
  return undefined
}
