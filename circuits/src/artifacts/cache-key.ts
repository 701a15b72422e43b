import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Catalogue, mainFile } from '../compiler/catalogue.js'
import { compilerVersion, sourceFolder } from '../compiler/compile.js'
import { parametersFile } from '../compiler/parameters.js'

/** Raise this when the setup changes, so that older keys are rebuilt. */
const setupVersion = 1

/** Hash of everything that determines the circuits' constraints. */
export async function hashSources(circuits: Catalogue): Promise<string> {
  const hash = createHash('sha256')
  const add = (name: string, text: string) => hash.update(`${name}\n${Buffer.byteLength(text)}\n${text}\n`)
  for (const file of (await readdir(sourceFolder)).sort()) {
    add(file, await readFile(join(sourceFolder, file), 'utf8'))
  }
  add('parameters.circom', parametersFile())
  for (const [name, source] of Object.entries(circuits)) add(name, mainFile(source))
  return hash.digest('hex')
}

/** Name of the folder of development artifacts for these sources and this compiler. */
export function folderName(powBits: number, sourcesHash: string): string {
  const key = createHash('sha256')
    .update(['development', setupVersion, powBits, sourcesHash, compilerVersion()].join('\n'))
    .digest('hex')
  return `development-${powBits}-${key.slice(0, 16)}`
}
