/**
 * The leased side of a daemon: what it does for all that share a ledger, under leases. It sends burns from its account, and, one
 * daemon at a time, it follows the token, mints and sweeps. It is made again whenever its leases change, so it knows nothing
 * that another daemon has changed since.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import { startLoop } from '../payment/loop.js'
import type { Burner } from '../payment/ports.js'
import { type Burns, createBurns } from '../payment/settle/burns.js'
import { startHandOver } from '../payment/settle/hand-over.js'
import { createOrphans } from '../payment/settle/orphans.js'
import { createResume } from '../payment/settle/resume.js'
import type { LedgerChanges } from '../payment/settle/shared-burns.js'
import { createBurner } from '../sending/burner/burner.js'
import { createBurnTrial } from '../sending/burner/trial.js'
import { countTransactions } from '../sending/relayer/tx-nonces.js'
import { assertAccountsKnown } from '../store/known-accounts.js'
import { type Lease, sendLease } from '../store/lease.js'
import type { Senders, SenderTerms } from './chain-side.js'
import { createFeesSide, type FeesSide } from './fees.js'
import { createFinalization, type Finalization } from './finalization.js'
import { createFollowing, type Following } from './following.js'
import type { LeasedParts, Parts } from './parts.js'
import type { PaymentFlow } from './payment-flow.js'

export type LeasedSide = {
  readonly senders: Senders
  readonly burns: Burns
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

/** The leases of this daemon at present. Without one it only proves for others, and tells how things stand. */
export type HeldLeases = {
  /** Sends from its account. */
  readonly send?: Lease | undefined
  /** Follows, mints and sweeps; only together with `send`. */
  readonly work?: Lease | undefined
}

export async function createLeasedSide(
  front: Parts,
  { examine }: Pick<PaymentFlow, 'examine'>,
  changes: LedgerChanges,
  { send, work }: HeldLeases,
  make = { finalization: createFinalization, fees: createFeesSide },
): Promise<LeasedSide> {
  const { storage, chainSide, profile, clock } = front
  const isShared = storage.shared !== undefined
  const report = front.telemetry.log
  const sendStorage = send ? { ...storage, ...storage.under([send]) } : storage
  const workStorage = send && work ? { ...storage, ...storage.under([send, work]) } : sendStorage
  const { ledger } = sendStorage
  const recordEmpty: SenderTerms['recordEmpty'] = {
    relayer: (transaction) => ledger.recordSigned(transaction, []),
    minter: (transaction) => workStorage.ledger.recordSigned(transaction, []),
  }
  const senders = chainSide.openSenders({ recordEmpty })
  const sending: LeasedParts = { ...front, storage: sendStorage, senders }
  const working: LeasedParts = { ...sending, storage: workStorage }
  const { relayer, minter } = senders
  /** The account that sends here, where several do. */
  const account = isShared ? relayer.address : undefined
  const closing = new AbortController()
  const draining = new AbortController()
  const burns = createBurns({
    burner: wireBurner(sending, closing.signal),
    ledger,
    examine,
    account,
    clock,
    report,
    retryMs: { first: limits.burnRetryFirstMs, max: limits.burnRetryMaxMs },
    closing: draining.signal,
  })
  const finalization = await make.finalization(working)
  const following = createFollowing(working)
  const fees = make.fees(working)
  const loops = [finalization, following, fees]
  let stopTakingUp: () => Promise<unknown> = async () => undefined

  return {
    senders,
    burns,
    finalization,
    following,
    fees,

    async resume() {
      const worker = work && minter
      await assertAccountsKnown({ storage: workStorage, relayer, isShared, minter: worker })
      const left = await createResume({ ledger, burns, examine, report, account })
      // Also without the work: mints that the relayer has signed keep their txNonces. The minter's belong to the work.
      await finalization.resumeMints(work ? undefined : relayer.address)
      if (profile.acceptsPayments) left.resumeTransactions()
      await Promise.all([relayer.start(), worker?.start()])
      if (profile.acceptsPayments) await left.restartClaims()
    },

    startLoops() {
      if (work) for (const loop of loops) loop.startLoop()
      else finalization.startHelp()
      if (send && profile.acceptsPayments) {
        const workLedger = isShared && work ? workStorage.ledger : undefined
        stopTakingUp = startTakingUp(sending, { burns, examine, changes, account, workLedger })
      }
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

/** Takes up claims that nobody burns, and, with the work, what other daemons left behind. Returns a function that stops it. */
function startTakingUp(
  { chainSide: { rpc }, storage: { ledger, store }, clock, telemetry }: LeasedParts,
  deps: Pick<LeasedSide, 'burns'> &
    Pick<PaymentFlow, 'examine'> & {
      readonly changes: LedgerChanges
      readonly account: Address | undefined
      readonly workLedger: LeasedParts['storage']['ledger'] | undefined
    },
): () => Promise<unknown> {
  const { account, workLedger } = deps
  const report = telemetry.log
  const retryMs = limits.handOverRetryMs
  const handOver = startHandOver({ ...deps, ledger, clock, report, retryMs })
  if (!account || !workLedger) return handOver.stop
  const endOrphans = createOrphans({
    ...deps,
    ledger: workLedger,
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
