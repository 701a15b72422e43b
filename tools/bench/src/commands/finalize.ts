/** `npm run bench:finalize`: the time from accepted to finalized with real proofs, the rate, and verify and challenge meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { verifierAbi } from '@svc-zerc20/contracts'
import { type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { getAbiItem } from 'viem'
import { type ChainView, createChainView } from '../inputs/chain-view.js'
import { fundPayers } from '../inputs/funding.js'
import { createPayers, createPermitPayments, type Payment } from '../inputs/payments.js'
import type { Closer } from '../measure/facilitators.js'
import { percentile, send } from '../measure/load.js'
import type { ChainReady } from '../processes/chain.js'
import { startChild } from '../processes/child.js'
import { childrenOf, cpuMs, peakBytes } from '../processes/usage.js'
import { explain, judge, say } from '../say.js'

const { values } = parseArgs({
  options: {
    payments: { type: 'string' },
    alone: { type: 'string', default: '3' },
    provers: { type: 'string', default: '1' },
    batch: { type: 'boolean', default: false },
    least: { type: 'string', default: '30' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  explain(`Usage: npm run bench:finalize -- [options]

Measures the time from accepted to finalized with real proofs, and the rate. The keys are made first where they are missing.

  --payments N   payments at once: 40 by default, 120 with --batch
  --alone N      payments one by one before them, 3 by default; none with --batch
  --provers N    processes that prove, 1 by default
  --batch        payments are minted together
  --least N      so many of them, 30 by default`)
}
const isBatch = values.batch
const together = Number(values.payments ?? (isBatch ? 120 : 40))
/** A lone payment waits for others in batch mode, so its time says only how long it may wait. */
const alone = isBatch ? 0 : Number(values.alone)
/** So many payments are minted together. The last ones of a run wait a minute at most. */
const batching = {
  mode: 'batch',
  batch_least: Number(values.least),
  batch_wait_max_ms: 60_000,
  batch_jitter_ms: 0,
}
const blockMs = 1000
const verifyCount = 400
const challengeCount = 500
/** The pool stays above its low-water mark while they are taken: below it, new addresses are mined meanwhile. */
const poolSize = 4 * challengeCount
const pollMs = 100

async function settle({ facilitatorUrl }: LocalNetwork, payments: readonly Payment[]): Promise<void> {
  const bodies = payments.map(({ body }) => body)
  const { failures } = await send(`${facilitatorUrl}/settle`, bodies, { concurrency: bodies.length })
  if (Object.keys(failures).length > 0) throw new Error(`refused: ${JSON.stringify(failures)}`)
}

async function untilFinalized(
  { facilitatorUrl, adminToken }: LocalNetwork,
  { body }: Payment,
): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}` }
  const nonce = JSON.parse(body).paymentPayload.payload.challengeNonce
  for (;;) {
    const response = await fetch(`${facilitatorUrl}/admin/payments/${nonce}`, { headers })
    const answer = (await response.json()) as { payment: { phase: string } }
    if (answer.payment.phase === 'finalized') return
    await sleep(pollMs)
  }
}

/** Waits until a root covers the mints that funded the payers, because those are transfers too. */
async function untilCaughtUp({ indexerUrl }: LocalNetwork): Promise<void> {
  for (;;) {
    const [status] = (await (await fetch(`${indexerUrl}/status`)).json()) as {
      tree_synced_index: number
      onchain_proved_index: number
    }[]
    if (status && status.tree_synced_index > 0 && status.onchain_proved_index === status.tree_synced_index)
      return
    await sleep(pollMs)
  }
}

/** Processor seconds of the provers of a daemon. */
const proverSeconds = (daemon: number | undefined): number =>
  childrenOf(daemon ?? 0).reduce((sum, pid) => sum + (cpuMs(pid) ?? 0) / 1000, 0)

/** Gas of all mints from a block on, and their number. */
async function mintsSince({ read }: ChainView, { deployment }: LocalNetwork, fromBlock: bigint) {
  const event = getAbiItem({ abi: verifierAbi, name: 'Teleport' })
  const logs = await read.getLogs({ address: deployment.verifier, event, fromBlock })
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))]
  const receipts = await Promise.all(hashes.map((hash) => read.getTransactionReceipt({ hash })))
  return { count: receipts.length, gas: receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) }
}

async function verifyP99({ facilitatorUrl }: LocalNetwork, payments: readonly Payment[]): Promise<number> {
  const bodies = Array.from({ length: verifyCount }, (_, i) => payments[i % payments.length]?.body ?? '')
  const { latenciesMs, failures } = await send(`${facilitatorUrl}/verify`, bodies, { concurrency: 4 })
  if (latenciesMs.length !== verifyCount) throw new Error(`verify refused: ${JSON.stringify(failures)}`)
  return percentile(latenciesMs, 0.99)
}

async function bench(closers: Closer[]): Promise<void> {
  const chainProcess = await startChild<ChainReady>({ module: 'chain', env: { BLOCK_MS: `${blockMs}` } })
  closers.push(() => chainProcess.stop())
  const { rpcUrl } = chainProcess.ready
  const network = await startLocalNetwork({
    rpcUrl,
    finalization: true,
    batch: isBatch,
    config: {
      settlement: { challenge_ttl_seconds: 3600, min_amount: '1' },
      finalize: { prover_processes: Number(values.provers), ...(isBatch && batching) },
      zerc20: { pool_size: poolSize },
    },
    say,
  })
  closers.push(() => network.close())
  const chain = createChainView(rpcUrl)
  const payers = createPayers(together)
  const { deployment, facilitatorUrl, pids } = network
  await fundPayers({ chain, token: deployment.token, payers: payers.map(({ address }) => address) })
  const makePayments = createPermitPayments({ facilitatorUrl, chain, deployment, payers })
  say(`\nblocks every ${blockMs} ms; waiting for a root over ${together} funded payers …`)
  await untilCaughtUp(network)

  const seconds: number[] = []
  for (let turn = 0; turn < alone; turn++) {
    const payments = await makePayments(1)
    await settle(network, payments)
    const acceptedAt = performance.now()
    await Promise.all(payments.map((payment) => untilFinalized(network, payment)))
    seconds.push((performance.now() - acceptedAt) / 1000)
    say(`one payment: finalized ${seconds.at(-1)?.toFixed(1)} s after accepted`)
  }

  const idleP99 = await verifyP99(network, await makePayments(together))
  const payments = await makePayments(together)
  const cpuBefore = { mints: proverSeconds(pids.facilitator), roots: proverSeconds(pids.indexer) }
  const blockBefore = await chain.read.getBlockNumber()
  await settle(network, payments)
  const acceptedAt = performance.now()
  say(`${together} payments accepted; finalizing …`)
  // New payments, because the permit nonces of the others are used.
  await sleep(2 * blockMs)
  const busyP99 = await verifyP99(network, await makePayments(together))
  await Promise.all(payments.map((payment) => untilFinalized(network, payment)))
  const perSecond = together / ((performance.now() - acceptedAt) / 1000)
  const mintSeconds = (proverSeconds(pids.facilitator) - cpuBefore.mints) / together
  const rootSeconds = (proverSeconds(pids.indexer) - cpuBefore.roots) / together
  const mints = await mintsSince(chain, network, blockBefore + 1n)
  const gasEach = mints.gas / together
  const bodies = Array.from({ length: challengeCount }, () => '{"amount":"1000"}')
  const { latenciesMs } = await send(`${facilitatorUrl}/challenge`, bodies, { concurrency: 1 })
  const [challengeP50, challengeP99] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)]
  const peak = [pids.facilitator, pids.indexer]
    .flatMap((pid) => [pid ?? 0, ...childrenOf(pid ?? 0)])
    .reduce((sum, pid) => sum + (peakBytes(pid) ?? 0), 0)

  say(
    `\nprocessor time of provers: ${mintSeconds.toFixed(2)} s a payment for mints, ${rootSeconds.toFixed(2)} s for roots`,
  )
  say(`gas of ${mints.count} mints of ${together} payments: ${gasEach.toFixed(0)} a payment\n`)
  const slowest = Math.max(...seconds)
  if (alone > 0)
    judge('accepted to finalized, one payment, ≤ 6 s', `${slowest.toFixed(1)} s at worst`, slowest <= 6)
  const least = isBatch ? 1.8 : 0.15
  judge(`finalized a second ≥ ${least}`, perSecond.toFixed(3), perSecond >= least)
  if (isBatch) judge('mint gas a payment ≤ 12 000', gasEach.toFixed(0), gasEach <= 12_000)
  const slower = busyP99 / idleP99
  const words = `${busyP99.toFixed(1)} ms against ${idleP99.toFixed(1)} ms, ${slower.toFixed(2)} times`
  judge('verify p99 while proving ≤ 1.5 times idle', words, slower <= 1.5)
  const challenge = `${challengeP99.toFixed(2)} ms, half of them below ${challengeP50.toFixed(2)} ms`
  judge('challenge p99 with a filled pool < 2 ms', challenge, challengeP99 < 2)
  const memory = `${(peak / 1e6).toFixed(0)} MB, peaks added up`
  judge('peak memory of facilitator, indexer and all provers < 1 GB', memory, peak < 1e9)
}

const closers: Closer[] = []
try {
  await bench(closers)
} finally {
  for (const close of closers.reverse()) await close()
}
