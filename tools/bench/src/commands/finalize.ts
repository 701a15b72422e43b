/**
 * `npm run bench:finalize`: measures the time from accepted to finalized with real proofs, the rate, and the effect of
 * proving on the request path.
 */
import { parseArgs } from 'node:util'
import { verifierAbi } from '@svc-zerc20/contracts'
import { startLocalNetwork } from '@svc-zerc20/devnet'
import { getAbiItem } from 'viem'
import { percentile } from '../comparison/figures.js'
import { type ChainView, createChainView } from '../inputs/chain-view.js'
import { fundPayers } from '../inputs/funding.js'
import { createPayers, createPermitPayments, type Payment } from '../inputs/payments.js'
import type { ChainReady } from '../processes/chain.js'
import { type Child, startChild } from '../processes/child.js'
import type { Load, LoadResult } from '../processes/load.js'
import { childrenOf, cpuMs, residentMemory } from '../processes/usage.js'
import { say } from '../say.js'

const { values } = parseArgs({
  options: {
    payments: { type: 'string' },
    alone: { type: 'string', default: '3' },
    provers: { type: 'string', default: '1' },
    batch: { type: 'boolean', default: false },
    least: { type: 'string', default: '30' },
  },
})
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

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const judged = (name: string, figure: string, isMet: boolean) =>
  say(`${isMet ? 'reached' : 'MISSED '}  ${name}: ${figure}`)

type Network = Awaited<ReturnType<typeof startLocalNetwork>>

const nonceOf = ({ body }: Payment): string => JSON.parse(body).paymentPayload.payload.challengeNonce

async function settle({ facilitatorUrl }: Network, { body }: Payment): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${facilitatorUrl}/settle`, { method: 'POST', headers, body })
  const answer = (await response.json()) as { success: boolean; errorReason?: string }
  if (!answer.success) throw new Error(`a payment was refused: ${answer.errorReason}`)
}

async function untilFinalized({ facilitatorUrl, adminToken }: Network, payment: Payment): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}` }
  for (;;) {
    const response = await fetch(`${facilitatorUrl}/admin/payments/${nonceOf(payment)}`, { headers })
    const answer = (await response.json()) as { payment: { phase: string } }
    if (answer.payment.phase === 'finalized') return
    await sleep(pollMs)
  }
}

/** Waits until a root covers the mints that funded the payers, because those are transfers too. */
async function untilCaughtUp({ indexerUrl }: Network): Promise<void> {
  for (;;) {
    const [status] = (await (await fetch(`${indexerUrl}/status`)).json()) as {
      tree_synced_index: number
      onchain_proved_index: number
    }[]
    if (status && status.tree_synced_index > 0 && status.onchain_proved_index === status.tree_synced_index) {
      return
    }
    await sleep(pollMs)
  }
}

/** Processor seconds of a daemon's provers. */
const secondsOf = (daemon: number | undefined): number =>
  childrenOf(daemon ?? 0).reduce((sum, pid) => sum + (cpuMs(pid) ?? 0) / 1000, 0)

const proverSeconds = ({ pids }: Network) => ({
  mints: secondsOf(pids.facilitator),
  roots: secondsOf(pids.indexer),
})

/** Gas of all mints from a block on, and their number. */
async function mintsSince({ read }: ChainView, { deployment }: Network, fromBlock: bigint) {
  const event = getAbiItem({ abi: verifierAbi, name: 'Teleport' })
  const logs = await read.getLogs({ address: deployment.verifier, event, fromBlock })
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))]
  const receipts = await Promise.all(hashes.map((hash) => read.getTransactionReceipt({ hash })))
  return { count: receipts.length, gas: receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) }
}

async function verifyP99(
  load: Child<object>,
  network: Network,
  payments: readonly Payment[],
): Promise<number> {
  const bodies = Array.from({ length: verifyCount }, (_, i) => payments[i % payments.length]?.body ?? '')
  const question: Load = { url: `${network.facilitatorUrl}/verify`, bodies, concurrency: 4 }
  const { succeeded, latenciesMs, failures } = await load.ask<LoadResult>(question)
  if (succeeded !== verifyCount) throw new Error(`verify refused: ${JSON.stringify(failures)}`)
  return percentile(latenciesMs, 0.99)
}

/** One request at a time over one connection, so that the measured time is the server's. */
async function challengeLatencies({ facilitatorUrl }: Network): Promise<readonly number[]> {
  const latenciesMs: number[] = []
  for (let asked = 0; asked < challengeCount; asked++) {
    const startedAt = performance.now()
    const response = await fetch(`${facilitatorUrl}/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":"1000"}',
    })
    await response.text()
    latenciesMs.push(performance.now() - startedAt)
  }
  return latenciesMs
}

async function bench(closers: (() => Promise<void>)[]): Promise<void> {
  const chainProcess = await startChild<ChainReady>({
    module: 'chain',
    env: { BLOCK_MS: `${blockMs}` },
  })
  closers.push(() => chainProcess.stop())
  const { rpcUrl } = chainProcess.ready
  const network = await startLocalNetwork({
    rpcUrl,
    finalization: true,
    batch: isBatch,
    config: {
      settlement: { challenge_ttl_seconds: 3600 },
      finalize: { prover_processes: Number(values.provers), ...(isBatch && batching) },
      zerc20: { pool_size: poolSize },
    },
    say,
  })
  closers.push(() => network.close())
  const load = await startChild<object>({ module: 'load' })
  closers.push(() => load.stop())
  const chain = createChainView(rpcUrl)
  const payers = createPayers(together)
  const { deployment } = network
  await fundPayers({ chain, token: deployment.token, payers: payers.map(({ address }) => address) })
  const makePayments = createPermitPayments({
    facilitatorUrl: network.facilitatorUrl,
    chain,
    deployment,
    payers,
  })
  say(`\nblocks every ${blockMs} ms; waiting for a root over ${together} funded payers …`)
  await untilCaughtUp(network)

  const seconds: number[] = []
  for (let turn = 0; turn < alone; turn++) {
    const [payment] = await makePayments(1)
    if (!payment) throw new Error('no payment')
    await settle(network, payment)
    const acceptedAt = performance.now()
    await untilFinalized(network, payment)
    seconds.push((performance.now() - acceptedAt) / 1000)
    say(`one payment: finalized ${seconds.at(-1)?.toFixed(1)} s after accepted`)
  }

  const idleP99 = await verifyP99(load, network, await makePayments(together))
  const payments = await makePayments(together)
  const cpuBefore = proverSeconds(network)
  const blockBefore = await chain.read.getBlockNumber()
  await Promise.all(payments.map((payment) => settle(network, payment)))
  const acceptedAt = performance.now()
  say(`${together} payments accepted; finalizing …`)
  // New payers, because the permit nonces of the others are used.
  await sleep(2 * blockMs)
  const fresh = await makePayments(together)
  const busyP99 = await verifyP99(load, network, fresh)
  await Promise.all(payments.map((payment) => untilFinalized(network, payment)))
  const tookSeconds = (performance.now() - acceptedAt) / 1000
  const cpu = proverSeconds(network)
  const [mintEach, rootEach] = [
    (cpu.mints - cpuBefore.mints) / together,
    (cpu.roots - cpuBefore.roots) / together,
  ]
  const mints = await mintsSince(chain, network, blockBefore + 1n)
  const challenges = await challengeLatencies(network)
  const peak = [network.pids.facilitator, network.pids.indexer]
    .flatMap((pid) => [pid ?? 0, ...childrenOf(pid ?? 0)])
    .reduce((sum, pid) => sum + (residentMemory(pid).rssPeakBytes ?? 0), 0)

  const slowest = Math.max(...seconds)
  const perSecond = together / tookSeconds
  say('')
  if (alone > 0) {
    judged(
      'accepted to finalized, one payment, at most 6 s',
      `${slowest.toFixed(1)} s at worst`,
      slowest <= 6,
    )
  }
  const least = isBatch ? 1.8 : 0.15
  judged(`finalized a second, at least ${least}`, perSecond.toFixed(3), perSecond >= least)
  say(
    `         processor time of provers: ${mintEach.toFixed(2)} s a payment for mints, ${rootEach.toFixed(2)} s for roots`,
  )
  const gasEach = mints.gas / together
  const mintGas = `${gasEach.toFixed(0)} in ${mints.count} mints of ${together} payments`
  if (isBatch) judged('mint gas a payment, at most 12 000 in batches of 30', mintGas, gasEach <= 12_000)
  else say(`         mint gas a payment: ${mintGas}`)
  judged(
    '/verify p99 while proving, at most 1.5 times idle',
    `${busyP99.toFixed(1)} ms against ${idleP99.toFixed(1)} ms, ${(busyP99 / idleP99).toFixed(2)} times`,
    busyP99 / idleP99 <= 1.5,
  )
  const [challengeP50, challengeP99] = [percentile(challenges, 0.5), percentile(challenges, 0.99)]
  judged(
    '/challenge p99 with a filled pool under 2 ms',
    `${challengeP99.toFixed(2)} ms, half of them below ${challengeP50.toFixed(2)} ms`,
    challengeP99 < 2,
  )
  judged(
    'peak memory of facilitator, indexer and all provers under 1 GB',
    `${(peak / 1e6).toFixed(0)} MB, peaks added up`,
    peak < 1e9,
  )
}

const closers: (() => Promise<void>)[] = []
try {
  await bench(closers)
} finally {
  for (const closer of closers.reverse()) await closer()
}
