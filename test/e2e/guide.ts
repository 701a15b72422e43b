/** The commands of a guide that works on a local network, run as they stand there. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { blocksOf, pairsOf, runShell } from '../support/guide-blocks.js'

export type Shown = { readonly shown: string; readonly printed: string }

/** Runs a guide against a network, and returns what it shows beside what was printed. */
export async function runGuide(guide: string, networkFile: string): Promise<Shown[]> {
  const { rpcUrl, shopUrl, facilitatorUrl } = JSON.parse(readFileSync(networkFile, 'utf8'))
  const blocks = blocksOf(guide)
  const here = (text: string) =>
    text
      .replaceAll('.devnet/', `${dirname(networkFile)}/`)
      .replaceAll('http://127.0.0.1:4021', shopUrl)
      .replaceAll('http://127.0.0.1:4032', facilitatorUrl)
      .replaceAll('http://127.0.0.1:8545', rpcUrl)
  // What this block sets is there for the blocks behind it, as in a terminal.
  const settings = blocks.filter(({ text }) => /^(?:export |set -a)/.test(text)).map(({ text }) => text)
  if (settings.length !== 1) throw new Error('the guide sets its environment in one block')
  const home = mkdtempSync(join(tmpdir(), 'svc-guide-'))
  try {
    const results: Shown[] = []
    for (const { typed, output } of pairsOf(blocks)) {
      const printed = await runShell(here(settings.join('') + typed), home)
      results.push({ shown: comparable(output), printed: comparable(printed) })
    }
    return results
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Addresses, hashes, times and the thought that was bought differ from run to run. */
const comparable = (text: string) =>
  text
    .replace(/0x[0-9a-fA-F]{40,64}/g, '0x…')
    .replace(/"(since|until)":\d+/g, '"$1":(when)')
    // What the command says beside a token.
    .replace(/^for the (?:payer|provider) at .*\n/gm, '')
    .replace(/^\{"thought".*\}$/gm, '(what was bought)')
    .trim()
