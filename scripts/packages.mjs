// The packages that strangers install, and how they are packed.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeLeftovers } from './leftovers.mjs'
import { root } from './setup.mjs'

/** Folders of the workspaces that are published: all but those marked private. */
export function publicFolders() {
  const folders = ['contracts', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]
  return folders.filter(
    (folder) => existsSync(join(root, folder, 'package.json')) && !manifestOf(folder).private,
  )
}

export const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** Packs every public package into the folder. Returns the file and the contents of each. */
export function pack(destination) {
  for (const folder of publicFolders()) removeLeftovers(join(root, folder))
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
