/** Fees on their way to the facilitator, wired: sweeps with the treasury's key, and distributions of the splitter. */
import { type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import { type Clock, inTime } from '@svc-zerc20/protocol'
import { toHex } from 'viem/utils'
import { limits } from '../config/limits.js'
import { sendingAccountOf } from '../config/secrets/sending-account.js'
import { sweepPaceOf } from '../config/settings.js'
import { type Loop, startLoop } from '../payment/loop.js'
import type { FeeControl } from '../payment/sweep/control.js'
import type { SweepTerms } from '../payment/sweep/plan.js'
import { createSentBefore } from '../payment/sweep/sent-before.js'
import { createSweeper, type Sweeper } from '../payment/sweep/sweeper.js'
import { createSentTransfers } from '../sending/fees/sent-transfers.js'
import { createSplitter, type Splitter } from '../sending/fees/splitter.js'
import { createTreasurySender } from '../sending/fees/treasury.js'
import { createRelayer, type Relayer } from '../sending/relayer/relayer.js'
import type { LeasedParts } from './parts.js'

export type FeesSide = FeeControl & {
  startLoop(): void
  /** Stops sending at once. Resolves when the ledger knows all that was signed. */
  closeSender(): Promise<void>
  close(): Promise<void>
}

/** Undefined unless the node says it soon: the operator mostly asks while the node hangs or fails. */
async function weiOf(
  rpc: Pick<JsonRpc, 'batch'>,
  clock: Pick<Clock, 'sleep'>,
  address: string,
): Promise<bigint | undefined> {
  const asked = rpc
    .batch([{ method: 'eth_getBalance', params: [address, 'latest'] }])
    .then(([answer]) => quantityOf('eth_getBalance', answer))
    .catch(() => undefined)
  const wei = await inTime(asked, limits.probeWaitMs, clock)
  return wei === 'late' ? undefined : wei
}

export function createFeesSide(parts: LeasedParts): FeesSide {
  const { config, profile, storage, chainSide, clock, telemetry } = parts
  const treasury = wireTreasuryRelayer(parts)
  const terms = {
    ...sweepPaceOf(config),
    treasury: treasury.address,
    paymentsMax: limits.paymentsPerSweepMax,
  }
  const sweeper = wireSweeper(parts, treasury, terms)
  const splitter = wireSplitter(parts, terms)
  let loop: Loop | undefined
  return {
    async view() {
      const address = config.fee?.splitter
      const isCustodial = config.fee !== undefined && address === undefined
      const { tokenLabel } = chainSide.deployment
      const treasuryWei = isCustodial ? await weiOf(chainSide.rpc, clock, treasury.address) : undefined
      return {
        ...(await sweeper.view()),
        mode: config.fee === undefined ? 'none' : address === undefined ? 'custodial' : 'split',
        terms,
        swept: await storage.ledger.swept(),
        ...(treasuryWei !== undefined && { treasuryWei }),
        ...(tokenLabel && { token: tokenLabel }),
        ...(splitter && address !== undefined && { splitter: { address, ...splitter.view() } }),
      }
    },
    sweepNow: (options) => sweeper.now({ isDryRun: options.isDryRun || !profile.acceptsPayments }),
    startLoop() {
      if (!profile.acceptsPayments) return
      const rounds = [sweeper.round, ...(splitter ? [splitter.round] : [])]
      const periodMs = Math.min(limits.sweepPollMs, terms.intervalMs)
      const onFailure = (err: unknown) => telemetry.log({ event: 'fees.distribute_failed', err })
      // A sweep that is under way at the end is taken up by the next run.
      loop = startLoop({
        async round() {
          for (const round of rounds) await round().catch(onFailure)
        },
        clock,
        periodMs,
        onFailure,
      })
    },
    closeSender: treasury.close,
    async close() {
      await loop?.stop()
      await treasury.close()
    },
  }
}

const retryMs = { first: limits.sweepRetryFirstMs, max: limits.sweepRetryMaxMs }

/** The treasury's key has its own txNonces and queue. */
function wireTreasuryRelayer({
  config,
  secrets,
  storage,
  chainSide,
  clock,
  telemetry,
}: LeasedParts): Relayer {
  const { rpc, chain, gasPrices, deployment } = chainSide
  const account = sendingAccountOf(toHex(secrets.treasuryKey.reveal()))
  return createRelayer({
    rpc,
    gasPrices,
    account,
    chainId: deployment.chainId,
    confirmations: config.finalize.confirmations,
    // A sweep has ended only when it is as deep as a mint, which no reorg takes back.
    reorgWatchBlocks: 0,
    clock,
    report: telemetry.log,
    onHead: chain.sawHead,
    recordEmpty: (transaction) => storage.ledger.recordSigned(transaction, []),
    limits: { ...limits, mintReserveGas: 0n },
  })
}

function wireSweeper(
  { config, chainSide, storage: { ledger }, clock, telemetry }: LeasedParts,
  relayer: Relayer,
  terms: SweepTerms,
): Sweeper {
  const { rpc, deployment } = chainSide
  const { token } = deployment
  const { confirmations } = config.finalize
  const report = telemetry.log
  const sent = createSentTransfers({ rpc, token, treasury: terms.treasury, confirmations })
  return createSweeper({
    ledger,
    sender: createTreasurySender({ rpc, relayer, token, ledger, confirmations, clock, limits }),
    sentBefore: createSentBefore({ ledger, sent, terms, report }),
    clock,
    terms,
    retryMs,
    report,
  })
}

/** Undefined without a splitter. */
function wireSplitter(
  { config, chainSide, senders, storage: { ledger }, clock, telemetry }: LeasedParts,
  { minAmount, intervalMs }: SweepTerms,
): Splitter | undefined {
  const splitter = config.fee?.splitter
  if (splitter === undefined) return undefined
  const { rpc, deployment } = chainSide
  const { relayer } = senders
  const pace = { minAmount, intervalMs, retryMs }
  const { token } = deployment
  return createSplitter({
    rpc,
    relayer,
    token,
    splitter,
    recordSigned: (transaction) => ledger.recordSigned(transaction, []),
    clock,
    ...pace,
    report: telemetry.log,
    limits,
  })
}
