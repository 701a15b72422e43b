import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogue, mainFile } from './catalogue.js'
import { compilerVersion, sourceFolder } from './compile.js'
import { parametersFile } from './parameters.js'

/** Raised when the setup itself changes, so that keys of an older one are made anew. */
const setupVersion = 1

/** Hash over everything that decides what the circuits demand. */
export async function hashSources(powBits: number): Promise<string> {
  const hash = createHash('sha256')
  const add = (name: string, text: string) => hash.update(`${name}\n${Buffer.byteLength(text)}\n${text}\n`)
  for (const file of (await readdir(sourceFolder)).sort()) {
    add(file, await readFile(join(sourceFolder, file), 'utf8'))
  }
  add('parameters.circom', parametersFile())
  for (const [name, source] of Object.entries(catalogue(powBits))) add(name, mainFile(source))
  return hash.digest('hex')
}

/** Name of the folder that holds artifacts of these sources, compiler and setup. */
export function folderName(setup: 'development' | 'ceremony', powBits: number, sourcesHash: string): string {
  const key = createHash('sha256')
    .update([setup, setupVersion, powBits, sourcesHash, compilerVersion()].join('\n'))
    .digest('hex')
  return `${setup}-${powBits}-${key.slice(0, 16)}`
}
