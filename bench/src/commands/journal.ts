/** `npm run bench:journal`: measures the time until the daemon is ready on a large journal, and its memory then. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { developmentRoles, startLocalNetwork } from '@svc-zerc20/devnet'
import { deriveSeed, seedFingerprint } from '@svc-zerc20/zk'
import { getContractAddress, hexToBytes } from 'viem'
import { type JournalPlan, writeJournal } from '../inputs/journal.js'
import { cpuMs, residentMemory } from '../processes/usage.js'

/** Time for the compaction of the journal and for idle threads to end. */
const settleSeconds = 25
const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`
const say = (line: string) => process.stdout.write(`${line}\n`)
const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '100000' },
    open: { type: 'string', default: '1000' },
  },
})

const { deployer, treasury } = developmentRoles

async function measure(form: JournalPlan['form']): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-journal-'))
  const journal = join(directory, 'large.jsonl')
  const records = writeJournal(journal, {
    payments: Number(values.payments),
    openChallenges: Number(values.open),
    form,
    nowSeconds: Math.floor(Date.now() / 1000),
    treasury: treasury.address.toLowerCase(),
    binding: {
      chainId: 31_337,
      // The first contract of a fresh devnet.
      token: getContractAddress({ from: deployer.address, nonce: 0n }).toLowerCase(),
      seed: seedFingerprint(deriveSeed(hexToBytes(treasury.privateKey))),
    },
  })
  const { size } = statSync(journal)
  say(
    `${form}: ${values.payments} payments, ${values.open} open challenges, ${records} records, ${megabytes(size)}`,
  )
  let startedAt = 0
  const network = await startLocalNetwork({
    // The signed bytes in these journals are random and must not be sent.
    config: { settlement: { journal, reorg_watch_blocks: 0 } },
    directory,
    // The daemon is the last part to start, so its start begins at the last line before it is ready.
    say: (line) => {
      if (!line.startsWith('facilitator')) startedAt = performance.now()
    },
  })
  const readyMs = performance.now() - startedAt
  try {
    const atReady = residentMemory(network.pids.facilitator ?? 0)
    const cpuSeconds = ((cpuMs(network.pids.facilitator ?? 0) ?? 0) / 1000).toFixed(2)
    await new Promise((resolve) => setTimeout(resolve, settleSeconds * 1000))
    const later = residentMemory(network.pids.facilitator ?? 0)
    say(
      `  ready after ${(readyMs / 1000).toFixed(2)} s (${cpuSeconds} s of processor time, process start included)`,
    )
    say(
      `  RSS ${megabytes(atReady.rssBytes)} when ready, ${megabytes(later.rssBytes)} after ${settleSeconds} s`,
    )
    say(`  highest ${megabytes(later.rssPeakBytes)}; journal afterwards ${megabytes(statSync(journal).size)}`)
  } finally {
    await network.close()
    if (existsSync(directory)) rmSync(directory, { recursive: true })
  }
}

await measure('compacted')
await measure('stepwise')
