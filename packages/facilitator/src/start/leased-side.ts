/**
 * The leased side of a daemon: what one daemon at a time does for all that share a ledger, under a lease. It sends burns, follows
 * the token, mints and sweeps. It is made again whenever the lease is taken or lost, so it knows nothing that another daemon
 * has changed since.
 */
import { setMaxListeners } from 'node:events'
import { SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import type { AddressSource, Burner, Signers } from '../payment/ports.js'
import { createClaims } from '../payment/settle/claims.js'
import { createBurner } from '../sending/burner/burner.js'
import { createBurnTrial } from '../sending/burner/trial.js'
import { assertAccountsKnown } from '../store/known-accounts.js'
import type { Lease } from '../store/lease.js'
import type { Senders } from './chain-side.js'
import { createFeesSide, type FeesSide } from './fees.js'
import { createFinalization, type Finalization } from './finalization.js'
import { createFollowing, type Following } from './following.js'
import type { LeasedParts, Parts } from './parts.js'
import { createPaymentFlow, type PaymentFlow, wireExamine } from './payment-flow.js'

export type LeasedSide = {
  readonly senders: Senders
  /** What requests ask for. It changes the ledger under the lease: a request that was held up changes nothing afterwards. */
  readonly flow: PaymentFlow
  readonly finalization: Finalization
  readonly following: Following
  readonly fees: FeesSide
  /** Takes up what the last holder of the leases left, before anything new is signed. */
  resume(): Promise<void>
  startLoops(): void
  /** Stops retries and loops. Resolves when nothing is under way. */
  drain(): Promise<void>
  /**
   * Stops sending at once. Work under way stays for the next holder of the lease. Resolves when the ledger knows all that
   * was signed.
   */
  close(): Promise<void>
}

export async function createLeasedSide(
  front: Parts,
  { addresses, signers }: { readonly addresses: AddressSource; readonly signers: Signers },
  /** Without it, the daemon stands by: it only tells how things stand. */
  active: Lease | undefined,
  make = { finalization: createFinalization, fees: createFeesSide },
): Promise<LeasedSide> {
  const { storage, chainSide, profile, clock } = front
  const report = front.telemetry.log
  const leasedStorage = active ? { ...storage, ...storage.under([active]) } : storage
  const { ledger } = leasedStorage
  const senders = chainSide.openSenders({
    recordEmpty: (transaction) => ledger.recordSigned(transaction, []),
  })
  const leased: LeasedParts = { ...front, storage: leasedStorage, senders }
  const { relayer, minter } = senders
  const closing = new AbortController()
  const draining = new AbortController()
  // Every claim listens, and there may be hundreds.
  setMaxListeners(0, draining.signal, closing.signal)
  const examine = wireExamine(leased, signers)
  const claims = createClaims({
    burner: wireBurner(leased, closing.signal),
    ledger,
    examine,
    clock,
    report,
    retryMs: { first: limits.burnRetryFirstMs, max: limits.burnRetryMaxMs },
    draining: draining.signal,
    closing: closing.signal,
  })
  const flow = createPaymentFlow(leased, { addresses, examine, claims })
  const finalization = await make.finalization(leased)
  const following = createFollowing(leased)
  const fees = make.fees(leased)
  const loops = [finalization, following, fees]

  return {
    senders,
    flow,
    finalization,
    following,
    fees,

    async resume() {
      await assertAccountsKnown({ storage: leasedStorage, relayer, minter })
      await finalization.resumeMints()
      const startSenders = () => Promise.all([relayer.start(), minter?.start()])
      await (profile.acceptsPayments ? claims.resume(startSenders) : startSenders())
    },

    startLoops() {
      if (!active) return
      for (const loop of loops) loop.startLoop()
    },

    async drain() {
      draining.abort()
      await Promise.all([claims.idle(), ...loops.map((loop) => loop.close())])
    },

    async close() {
      draining.abort()
      closing.abort()
      await Promise.all([relayer.close(), minter?.close(), fees.closeSender()])
    },
  }
}

function wireBurner(
  { config, chainSide, senders: { relayer }, storage: { ledger }, clock, telemetry }: LeasedParts,
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
