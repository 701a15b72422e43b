// The stamp of a build: which sources it was made of, and what it made. A command whose stamp still holds builds nothing.
// Sources are compared by size and time of change, because reading them all takes as long as many commands.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const stampFile = (root) => join(root, 'node_modules', '.svc-built')

const roots = ['contracts', 'circuits', 'packages', 'examples', 'tools']
const single = ['package-lock.json', 'tsconfig.json', 'tsconfig.base.json', 'scripts/bundle.mjs']
const source = /(?:(?<!\.test)\.ts|\.css|\/package\.json|\/tsconfig\.json)$/
const made = /\/(?:dist|built|bundle)\//
const passed = /^(?:node_modules|test|results|\.cache|bundle-.*)$/

/** What a build is about to be made of. Take it before the build: a source that changes meanwhile is built again. */
export function sourcesOf(root) {
  const listed = filesOf(root).filter((path) => source.test(path) && !made.test(path))
  return hashOf(
    [...listed, ...single].map((path) => {
      const { size, mtimeMs } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {}
      return `${path} ${size} ${mtimeMs}`
    }),
  )
}

export function noteBuild(root, sources) {
  const file = stampFile(root)
  // Another command may be reading it.
  writeFileSync(`${file}.${process.pid}`, `${sources} ${resultsOf(root)}`)
  renameSync(`${file}.${process.pid}`, file)
}

/** What is built was made of the sources as they are, and nothing of it has gone. */
export const isBuilt = (root) =>
  existsSync(stampFile(root)) &&
  readFileSync(stampFile(root), 'utf8') === `${sourcesOf(root)} ${resultsOf(root)}`

const resultsOf = (root) => hashOf(filesOf(root).filter((path) => made.test(path)))

const hashOf = (lines) => createHash('sha256').update(lines.sort().join('\n')).digest('hex')

function filesOf(root) {
  const found = []
  const folders = roots.filter((folder) => existsSync(join(root, folder)))
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (!entry.isDirectory()) found.push(path)
      else if (!passed.test(entry.name)) folders.push(path)
    }
  }
  return found
}
