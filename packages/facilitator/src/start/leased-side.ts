/**
 * The leased side of a daemon: what one daemon at a time does for all that share a ledger, under a lease. It sends burns, follows
 * the token, mints and sweeps. It is made again whenever the lease is taken or lost, so it knows nothing that another daemon
 * has changed since.
 */
import { setMaxListeners } from 'node:events'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import { startLoop } from '../payment/loop.js'
import type { AddressSource, Burner, Signers } from '../payment/ports.js'
import { type Burns, createBurns } from '../payment/settle/burns.js'
import { startHandOver } from '../payment/settle/hand-over.js'
import { createOrphans } from '../payment/settle/orphans.js'
import { createResume } from '../payment/settle/resume.js'
import { createSharedBurns, type LedgerChanges } from '../payment/settle/shared-burns.js'
import { createBurner } from '../sending/burner/burner.js'
import { createBurnTrial } from '../sending/burner/trial.js'
import { countTransactions } from '../sending/relayer/tx-nonces.js'
import { assertAccountsKnown } from '../store/known-accounts.js'
import { type Lease, sendLease } from '../store/lease.js'
import type { Senders } from './chain-side.js'
import { createFeesSide, type FeesSide } from './fees.js'
import { createFinalization, type Finalization } from './finalization.js'
import { createFollowing, type Following } from './following.js'
import type { LeasedParts, Parts } from './parts.js'
import { createPaymentFlow, type PaymentFlow } from './payment-flow.js'

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
  {
    addresses,
    signers,
    changes,
  }: {
    readonly addresses: AddressSource
    readonly signers: Signers
    readonly changes: LedgerChanges
  },
  /** Without it, the daemon stands by: it only tells how things stand. */
  active: Lease | undefined,
  make = { finalization: createFinalization, fees: createFeesSide },
): Promise<LeasedSide> {
  const { storage, chainSide, profile, clock } = front
  const isShared = storage.shared !== undefined
  const report = front.telemetry.log
  const leasedStorage = active ? { ...storage, ...storage.under([active]) } : storage
  const { ledger } = leasedStorage
  const senders = chainSide.openSenders({
    recordEmpty: (transaction) => ledger.recordSigned(transaction, []),
  })
  const leased: LeasedParts = { ...front, storage: leasedStorage, senders }
  const { relayer, minter } = senders
  /** The account that sends here, where several do. */
  const account = isShared ? relayer.address : undefined
  const closing = new AbortController()
  const draining = new AbortController()
  // Every claim that broke off sleeps on it, and there may be hundreds.
  setMaxListeners(0, draining.signal)
  const sharedBurns = createSharedBurns({
    here: () => (active && !active.lost.aborted ? burns : undefined),
    ledger,
    changes,
    clock,
  })
  const flow = createPaymentFlow(leased, addresses, sharedBurns, signers)
  const { examine } = flow
  const burns: Burns = createBurns({
    burner: wireBurner(leased, closing.signal),
    ledger,
    examine,
    account,
    clock,
    report,
    retryMs: { first: limits.burnRetryFirstMs, max: limits.burnRetryMaxMs },
    closing: draining.signal,
  })
  const finalization = await make.finalization(leased)
  const following = createFollowing(leased)
  const fees = make.fees(leased)
  const loops = [finalization, following, fees]
  let stopTakingUp: () => Promise<unknown> = async () => undefined

  return {
    senders,
    flow,
    finalization,
    following,
    fees,

    async resume() {
      await assertAccountsKnown({ storage: leasedStorage, relayer, isShared, minter })
      const left = await createResume({ ledger, burns, examine, report, account })
      await finalization.resumeMints()
      if (profile.acceptsPayments) left.resumeTransactions()
      await Promise.all([relayer.start(), minter?.start()])
      if (profile.acceptsPayments) await left.restartClaims()
    },

    startLoops() {
      if (!active) return
      for (const loop of loops) loop.startLoop()
      if (profile.acceptsPayments) stopTakingUp = startTakingUp(leased, { burns, examine, changes, account })
    },

    async drain() {
      draining.abort()
      await Promise.all([stopTakingUp(), burns.idle(), ...loops.map((loop) => loop.close())])
    },

    async close() {
      draining.abort()
      closing.abort()
      await Promise.all([relayer.close(), minter?.close(), fees.closeSender()])
    },
  }
}

/** Takes up claims that nobody burns, and what other daemons left behind. Returns a function that stops it. */
function startTakingUp(
  { chainSide: { rpc }, storage: { ledger, store }, clock, telemetry }: LeasedParts,
  deps: Pick<PaymentFlow, 'examine'> & {
    readonly burns: Burns
    readonly changes: LedgerChanges
    readonly account: Address | undefined
  },
): () => Promise<unknown> {
  const { account } = deps
  const report = telemetry.log
  const retryMs = limits.handOverRetryMs
  const handOver = startHandOver({ ...deps, ledger, clock, report, retryMs })
  if (!account) return handOver.stop
  const endOrphans = createOrphans({
    ...deps,
    ledger,
    async send({ account: gone, signed }) {
      const used = await countTransactions(rpc, gone, 'latest')
      for (const { txNonce, raw } of signed)
        if (txNonce >= used) await rpc.batch([{ method: 'eth_sendRawTransaction', params: [raw] }])
    },
    // A lease that was taken once has a new term.
    fence: async (gone) => (await store.leases.take(sendLease(gone)))?.release(),
    report,
  })
  const orphans = startLoop({
    round: () => endOrphans(account),
    clock,
    periodMs: retryMs,
    onFailure: (err) => report({ event: 'burn.hand_over_failed', err }),
  })
  return () => Promise.all([handOver.stop(), orphans.stop()])
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
