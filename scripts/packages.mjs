// The packages that strangers install, and how they are packed.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeLeftovers, root } from './setup.mjs'

/** Folders of the workspaces that are published: all but those marked private. */
export function publicFolders() {
  const folders = ['contracts', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]
  return folders.filter(
    (folder) => existsSync(join(root, folder, 'package.json')) && !manifestOf(folder).private,
  )
}

export const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/**
 * What somebody installs: packages of ours, and those of others that they are used with. viem is named because others
 * ask for a range of it, and only one version is tested.
 */
export const roles = {
  seller: { ours: ['resource-server'], others: ['@x402/express', 'express', 'viem'] },
  payer: { ours: ['payer'], others: ['@x402/fetch', 'viem'] },
  operator: { ours: ['facilitator', 'indexer'], others: ['viem'] },
}

/**
 * The arguments of `npm install` for a role: the tarballs of its packages and of all that they need of ours, because the
 * registry has none of them, and the others in the versions of our examples.
 */
export function installWords(role, packed) {
  const { ours, others } = roles[role]
  const { dependencies: versions } = manifestOf('examples')
  const manifests = new Map(publicFolders().map((folder) => [manifestOf(folder).name, manifestOf(folder)]))
  const needed = new Set(ours.map((name) => `@svc-zerc20/${name}`))
  for (const name of needed)
    for (const other of Object.keys(manifests.get(name)?.dependencies ?? {}))
      if (manifests.has(other)) needed.add(other)
  const files = [...needed].map((name) => packed.find((one) => one.name === name).file)
  return [...files, ...others.map((name) => `${name}@${versions[name]}`)]
}

/** Packs every public package, each with our licence, into the folder. Returns the file and the contents of each. */
export function pack(destination) {
  for (const folder of publicFolders()) {
    removeLeftovers(folder)
    copyFileSync(join(root, 'LICENSE'), join(root, folder, 'LICENSE'))
  }
  mkdirSync(destination, { recursive: true })
  const workspaces = publicFolders().flatMap((folder) => ['--workspace', folder])
  const args = ['pack', ...workspaces, '--json', '--ignore-scripts', '--pack-destination', destination]
  const printed = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return Object.values(JSON.parse(printed)).map(({ name, filename, files }) => ({
    name,
    file: join(destination, filename),
    paths: files.map(({ path }) => path),
  }))
}
