/**
 * The back of a daemon: the work that one daemon at a time does for all of a ledger. It sends transactions, follows the
 * token, mints and sweeps, and changes the ledger under a lease. A back is made anew for each lease, so it knows nothing
 * that another daemon has changed since.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import type { Burner } from '../payment/ports.js'
import { type Burns, createBurns } from '../payment/settle/burns.js'
import { startHandOver } from '../payment/settle/hand-over.js'
import { createResume } from '../payment/settle/resume.js'
import type { News } from '../payment/settle/shared-burns.js'
import { createBurner } from '../sending/burner/burner.js'
import { createBurnTrial } from '../sending/burner/trial.js'
import { assertAccountsKnown } from '../store/known-accounts.js'
import type { Lease } from '../store/lease.js'
import type { Senders } from './chain-side.js'
import { createFeesSide, type FeesSide } from './fees.js'
import { createFinalization, type Finalization } from './finalization.js'
import { createFollowing, type Following } from './following.js'
import type { BackParts, Parts } from './parts.js'
import type { PaymentFlow } from './payment-flow.js'

export type Back = {
  readonly senders: Senders
  readonly burns: Burns
  readonly finalization: Finalization
  readonly following: Following
  readonly fees: FeesSide
  /** Takes up what the last holder of the lease left, before anything new is signed. */
  resume(): Promise<void>
  startLoops(): void
  /** Stops retries and loops. Resolves when nothing is under way. */
  drain(): Promise<void>
  /** Stops sending at once. What is under way stays for the next holder of the lease. */
  close(): void
}

export async function createBack(
  front: Parts,
  { examine, payerWaits }: Pick<PaymentFlow, 'examine' | 'payerWaits'>,
  news: News,
  /** Undefined while another daemon does the work. */
  lease: Lease | undefined,
): Promise<Back> {
  const parts: BackParts = {
    ...front,
    storage: lease ? { ...front.storage, ...front.storage.under(lease) } : front.storage,
    senders: front.chainSide.openSenders(),
  }
  const { senders, storage, profile, clock } = parts
  const { relayer, minter } = senders
  const { ledger } = storage
  const report = parts.telemetry.log
  const closing = new AbortController()
  const draining = new AbortController()
  const burns = createBurns({
    burner: wireBurner(parts, closing.signal),
    ledger,
    payerWaits,
    clock,
    report,
    retryMs: { first: limits.reorgedRetryFirstMs, max: limits.reorgedRetryMaxMs },
    closing: draining.signal,
  })
  const finalization = await createFinalization(parts)
  const following = createFollowing(parts)
  const fees = createFeesSide(parts)
  const loops = [finalization, following, fees]
  let handOver: ReturnType<typeof startHandOver> | undefined

  return {
    senders,
    burns,
    finalization,
    following,
    fees,

    async resume(): Promise<void> {
      await assertAccountsKnown({ storage, relayer, minter, isAccepted: storage.isCopy })
      const left = await createResume({ ledger, burns, examine, report })
      await finalization.resumeMints()
      await fees.resume()
      if (profile.acceptsPayments) left.resumeTransactions()
      await Promise.all([relayer.start(), minter?.start()])
      if (profile.acceptsPayments) await left.restartClaims()
    },

    startLoops(): void {
      for (const loop of loops) loop.startLoop()
      // Where there is no other daemon, nobody hands anything over.
      if (!storage.store.hints || !profile.acceptsPayments) return
      const retryMs = limits.handOverRetryMs
      handOver = startHandOver({ ledger, burns, examine, news, clock, report, retryMs })
    },

    async drain(): Promise<void> {
      draining.abort()
      await Promise.all([handOver?.stop(), burns.idle(), ...loops.map((loop) => loop.close())])
    },

    close(): void {
      draining.abort()
      closing.abort()
      relayer.close()
      minter?.close()
    },
  }
}

function wireBurner(
  { config, chainSide, senders: { relayer }, storage: { ledger }, clock, telemetry }: BackParts,
  closing: AbortSignal,
): Burner {
  const { rpc, chain, deployment } = chainSide
  const { log } = telemetry
  if (!deployment.helper) return noBurner
  const { token, helper } = deployment
  return createBurner({
    chain,
    trial: createBurnTrial({ rpc, token, helper }),
    relayer,
    token,
    helper,
    confirmations: config.settlement.confirmations,
    recordSigned: ledger.recordSigned,
    report: log,
    clock,
    onRpcFailure: (err) => log({ event: 'rpc.failed', err }),
    closing,
  })
}

/** Without a helper no permit is judged burnable, so nothing can reach the burner. */
const noBurner: Burner = {
  burn: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
  // The helper was taken out of the configuration while burns were under way: they stay claimed.
  resume: () => [],
  watch: () => undefined,
  find: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
  onReorged: () => undefined,
}
