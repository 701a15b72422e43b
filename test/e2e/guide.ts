/** The commands of docs/guides/pay-from-an-agent.md, run as they stand there. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blocksOf, pairsOf, runShell } from '../support/guide-blocks.js'

export type Shown = { readonly shown: string; readonly printed: string }

/** Runs the guide against a network, and returns what it shows beside what was printed. */
export async function runGuide(networkFile: string): Promise<Shown[]> {
  const { rpcUrl, shopUrl } = JSON.parse(readFileSync(networkFile, 'utf8'))
  const blocks = blocksOf('pay-from-an-agent.md')
  const here = (text: string) =>
    text.replaceAll('.devnet/network.json', networkFile).replaceAll('http://127.0.0.1:4021', shopUrl)
  const exported = blocks.filter(({ text }) => text.startsWith('export ')).map(({ text }) => text)
  if (exported.length !== 1) throw new Error('the guide sets its environment in one block')
  const home = mkdtempSync(join(tmpdir(), 'svc-guide-'))
  try {
    const results: Shown[] = []
    for (const { typed, output } of pairsOf(blocks)) {
      const printed = await runShell(here(exported.join('') + typed), home, { SVC_RPC_URL: rpcUrl })
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
