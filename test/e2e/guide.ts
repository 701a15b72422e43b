/** The commands of docs/guides/pay-from-an-agent.md, run as they stand there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../docs/guides/pay-from-an-agent.md', import.meta.url))
const command = fileURLToPath(new URL('../../packages/payer/bin/svc-pay.mjs', import.meta.url))

export type Shown = { readonly shown: string; readonly printed: string }

/** Runs the guide against a network, and returns what it shows beside what was printed. */
export async function runGuide(networkFile: string): Promise<Shown[]> {
  const { rpcUrl, shopUrl } = JSON.parse(readFileSync(networkFile, 'utf8'))
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(
    ([, kind, text = '']) => ({ kind, text }),
  )
  const here = (text: string) =>
    text
      .replaceAll('npm run -s pay --', `"${process.execPath}" "${command}"`)
      .replaceAll('.devnet/network.json', networkFile)
      .replaceAll('http://127.0.0.1:4021', shopUrl)
  const exported = blocks.filter(({ text }) => text.startsWith('export ')).map(({ text }) => text)
  if (exported.length !== 1) throw new Error('the guide sets its environment in one block')
  const pairs = blocks.flatMap((block, place) => {
    const output = blocks[place + 1]
    return block.kind === 'sh' && output?.kind === 'text' ? [{ typed: block.text, output: output.text }] : []
  })
  const home = mkdtempSync(join(tmpdir(), 'svc-guide-'))
  try {
    const results: Shown[] = []
    for (const { typed, output } of pairs) {
      const printed = await runShell(here(exported.join('') + typed), home, rpcUrl)
      results.push({ shown: comparable(output), printed: comparable(printed) })
    }
    return results
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Addresses, hashes and the thought that was bought differ from run to run. */
const comparable = (text: string) =>
  text
    .replace(/0x[0-9a-f]{40,64}/g, '0x…')
    .replace(/^\{"thought".*\}$/gm, '(what was bought)')
    .trim()

async function runShell(script: string, home: string, rpcUrl: string): Promise<string> {
  const { PATH } = process.env
  const env = { PATH, HOME: home, SVC_RPC_URL: rpcUrl }
  const shell = spawn('bash', ['-c', script], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (part) => {
      text += part
    })
  }
  await once(shell, 'close')
  return text
}
