import { spawn } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CircuitSource, mainFile } from './catalogue.js'
import { parametersFile } from './parameters.js'

const require = createRequire(import.meta.url)

/** Folder of the circom sources. */
export const sourceFolder = fileURLToPath(new URL('../../circom', import.meta.url))

/** Name and version of the compiler, as it goes into the manifest. */
export function compilerVersion(): string {
  const { name, version } = require('circom2/package.json') as { name: string; version: string }
  return `${name} ${version} --O1`
}

/** Copies sources and generated parameters into one folder, because the compiler finds includes only in its own. */
export async function prepareSources(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await cp(sourceFolder, folder, { recursive: true })
  await writeFile(join(folder, 'parameters.circom'), parametersFile())
}

/**
 * How much of a WebAssembly function runs before V8 optimizes it. Optimizing the compiler takes longer than compiling
 * most of our circuits, and the larger ones are no slower with a late optimization.
 */
const tieringBudget = 100_000_000

export type Compiled = {
  readonly r1csFile: string
  readonly witnessFile: string
}

/**
 * Compiles one circuit in a folder that `prepareSources` filled. Runs in its own process, because the compiler ends its
 * process, and so that two can run at once. `extra` are flags for the compiler.
 */
export async function compile(
  folder: string,
  name: string,
  source: CircuitSource,
  extra: readonly string[] = [],
): Promise<Compiled> {
  // Not the circuit's name alone, which may be that of a source file.
  const main = `main-${name}`
  await writeFile(join(folder, `${main}.circom`), mainFile(source))
  const node = [`--wasm-tiering-budget=${tieringBudget}`, require.resolve('circom2/cli.js')]
  const args = [`${main}.circom`, '--r1cs', '--wasm', '--O1', '-o', '.', ...extra]
  const child = spawn(process.execPath, [...node, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  // A warning, for example about arrays of unequal length, means a mistake in a circuit, so it is an error here.
  if (code !== 0 || said.includes('warning[')) throw new Error(`the compiler refused ${name}:\n${said}`)
  return { r1csFile: join(folder, `${main}.r1cs`), witnessFile: join(folder, `${main}_js`, `${main}.wasm`) }
}
