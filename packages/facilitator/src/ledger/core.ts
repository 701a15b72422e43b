/** The parts that all operations of the ledger share: state, event log, and the order in which challenges expire. */
import { type ChallengeNonce, type UnixSeconds, unixSeconds } from '@svc-zerc20/protocol'
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import { type Shares, unshared } from '../payment/issue/shares.js'
import type { Clock } from '../payment/ports.js'
import type { LedgerEvent } from './events/events.js'
import { createExpiryOrder, type ExpiryOrder } from './expiry-order.js'
import { createOpenChallenges, type OpenChallenges } from './open-challenges.js'
import { createOpenClaims, type OpenClaims } from './open-claims.js'
import { isKept, type PaymentRecord } from './state/payment-record.js'
import type { LedgerState } from './state/state.js'

/** The log takes every event before it counts. The log is the journal, or nothing when the journal is switched off. */
export type EventLog = { append(event: LedgerEvent): Promise<void>; durable(): Promise<void> }

/** `settlement.journal = "none"`: nothing survives a restart. */
export const noEventLog: EventLog = { append: async () => undefined, durable: async () => undefined }

export type LedgerDeps = {
  readonly state: LedgerState
  readonly log: EventLog
  readonly clock: Clock
  readonly openMax: number
  /** The shares of callers in open challenges; by default first come, first served. */
  readonly openShares?: Shares | undefined
  readonly expiredRetentionSeconds: number
  /** Limits on remembered transfers that cover nothing. */
  readonly unmatchedMax: { readonly perChallenge: number; readonly total: number }
  /** The issued addresses, which outlive their challenges. Absent: an address is forgotten with its challenge. */
  readonly issued?: Pick<IssuedAddresses, 'assertRoom' | 'add' | 'heldUntil'> | undefined
}

export type LedgerCore = LedgerDeps & {
  readonly open: OpenChallenges
  /** Challenges that expired without a claim, kept for late burns. */
  readonly expired: ExpiryOrder
  readonly openClaims: OpenClaims
  nowSeconds(): UnixSeconds
  /** Records the event, then applies it. */
  journalled(event: LedgerEvent): Promise<void>
  /** Moves challenges that expired, and forgets those past their retention. */
  sweep(): void
  /** Whether a payment is past its retention. It counts as forgotten, also while its address waits for the disk. */
  isForgotten(payment: Omit<PaymentRecord, 'finalized'>): boolean
  /** Takes a challenge out of the open and the expired ones: it is claimed, or has a late burn. */
  closeChallenge(nonce: ChallengeNonce): void
}

export function createLedgerCore(deps: LedgerDeps): LedgerCore {
  const { state, log, clock, openMax, expiredRetentionSeconds, issued } = deps
  const open = createOpenChallenges({ max: openMax, shares: deps.openShares ?? unshared(openMax) })
  const expired = createExpiryOrder()
  const openClaims = createOpenClaims()
  for (const { challenge, claim, accepted, late } of state.live()) {
    if (claim?.payload && !accepted) openClaims.add(challenge, claim.payload.read())
    if (!claim && !late) open.add(challenge)
  }
  return {
    ...deps,
    open,
    expired,
    openClaims,
    nowSeconds: () => unixSeconds(clock),
    async journalled(event) {
      await log.append(event)
      state.apply(event)
    },
    sweep() {
      const now = clock.now() / 1000
      for (const challenge of open.takeUntil(now)) expired.add(challenge)
      const until = Math.min(now - expiredRetentionSeconds, issued?.heldUntil() ?? Number.POSITIVE_INFINITY)
      for (const { nonce } of expired.takeUntil(until)) state.forget(nonce)
    },
    isForgotten: (payment) =>
      !isKept(payment) && payment.challenge.expiresAt + expiredRetentionSeconds <= clock.now() / 1000,
    closeChallenge(nonce) {
      open.delete(nonce)
      expired.delete(nonce)
    },
  }
}
