/** The commands of a guide with the output that it shows for them, run as they stand there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Block = { readonly kind: string; readonly text: string }
export type Pair = { readonly typed: string; readonly output: string }

const commandOf = (path: string) =>
  `"${process.execPath}" "${fileURLToPath(new URL(`../../${path}`, import.meta.url))}"`

/** Every block of code of a page, in order. A bare name is a guide's. */
export function blocksOf(name: string): Block[] {
  const path = name === 'README.md' ? name : `docs/guides/${name}`
  const page = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  return [...readFileSync(page, 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(
    ([, kind = '', text = '']) => ({ kind, text }),
  )
}

/** Commands that are followed by their output. */
export const pairsOf = (blocks: readonly Block[]): Pair[] =>
  blocks.flatMap((block, place) => {
    const output = blocks[place + 1]
    return block.kind === 'sh' && output?.kind === 'text' ? [{ typed: block.text, output: output.text }] : []
  })

/** Runs commands in a folder, with the commands of this tree, and returns everything that they print. */
export async function runShell(
  script: string,
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const commands = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))
  const env = { PATH: `${commands}${delimiter}${process.env.PATH}`, HOME: folder, ...variables }
  const here = script.replaceAll(/\bnode (examples\/dist\/\w+\.js)/g, (_whole, path: string) =>
    commandOf(path),
  )
  const shell = spawn('bash', ['-c', here], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (part) => {
      text += part
    })
  }
  await once(shell, 'close')
  return text
}
