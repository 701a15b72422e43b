/** The states of a promised burn, as the chain tells them. */
import { type ChallengeNonce, type Clock, type Hex, type TxHash, unixSeconds } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import type { AuditLog } from './audit-log.js'
import type { BurnState } from './burn-verdict.js'
import type { Totals } from './capped-totals.js'
import { isWaiting, type PaymentMemory } from './payments.js'
import type { Reservation } from './spend-state.js'

/** The signed transfer of a self-transfer, where there is one. */
export type SignedTransfer = { readonly hash: TxHash; readonly raw: Hex }

/** What must be known of a payment to look for its burn. */
export type PromisedBurn = Pick<
  Reservation,
  'way' | 'helper' | 'deadline' | 'token' | 'payer' | 'payTo' | 'amount' | 'isReplaced'
>

export type ReadBurnState = (
  challengeNonce: ChallengeNonce,
  reservation: PromisedBurn,
  transfer: SignedTransfer | undefined,
) => Promise<BurnState>

export type Reconcile = {
  /**
   * Ends reservations whose burns the chain can rule out or has by now. Callers at once share one look, which asks about
   * no more of them after `reconcileMsMax`.
   */
  now(): Promise<void>
  /** Does so beside what the caller does, now and then, and never fails. */
  beside(): void
}

/** How long past its end a reservation is left alone: its holder may still be at work. */
const graceSeconds = 60
/** Reservations about which the chain is asked at once. */
const askedAtOnce = 16

export function createReconcile({
  totals,
  audit,
  memory,
  burnState,
  clock,
  limits,
}: {
  readonly totals: Totals
  readonly audit: AuditLog
  readonly memory: Pick<PaymentMemory, 'get' | 'hold'>
  readonly burnState: ReadBurnState
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'reconcileMsMax' | 'reconcilePauseMs'>
}): Reconcile {
  /**
   * Ends a payment without a signed transfer, so that a process that slept cannot sign one afterwards.
   * Returns false if another holder is at work on the payment, or signed meanwhile.
   */
  async function endIntent(challengeNonce: ChallengeNonce): Promise<boolean> {
    const { isOurs, record } = await memory.hold(challengeNonce, (before) =>
      before?.burn ? before : undefined,
    )
    return isOurs && record === undefined
  }

  const transferOf = async (challengeNonce: ChallengeNonce, { way }: Reservation) =>
    way === 'self-transfer' ? (await memory.get(challengeNonce))?.burn : undefined

  async function waits(challengeNonce: ChallengeNonce): Promise<boolean> {
    const record = await memory.get(challengeNonce)
    return record !== undefined && isWaiting(record)
  }

  async function settle(challengeNonce: ChallengeNonce, reservation: Reservation): Promise<void> {
    const transfer = await transferOf(challengeNonce, reservation)
    if (reservation.way === 'self-transfer' && !transfer && !(await endIntent(challengeNonce))) return
    const state = await burnState(challengeNonce, reservation, transfer)
    if (state === 'burned') {
      await totals.spend(challengeNonce)
      await audit.append({ event: 'paid', challengeNonce, why: 'the chain has the burn' })
    }
    // A signed transfer can be mined for as long as its txNonce is free, and whether it is, is the node's word. Only the spent
    // transfer that took its txNonce frees its money, once the record of the payment says that it is over: until then the
    // reservation alone tells that the burn cannot come.
    if (state === 'absent' && (!transfer || (reservation.isReplaced && !(await waits(challengeNonce))))) {
      if (!(await totals.release(challengeNonce, reservation.owner))) return
      const why = 'it has no burn, and none can come'
      await audit.append({ event: 'released', challengeNonce, why })
    }
  }

  async function look(): Promise<void> {
    const { reservations } = await totals.state()
    const now = unixSeconds(clock)
    const open = Object.entries(reservations)
    const settleOne = async ([nonce, reservation]: (typeof open)[number]) => {
      const challengeNonce = nonce as ChallengeNonce
      // What became of a signed transfer can be told at any time.
      const isOver = endOf(reservation) + graceSeconds <= now
      if (isOver || (await transferOf(challengeNonce, reservation))) await settle(challengeNonce, reservation)
    }
    const untilMs = clock.now() + limits.reconcileMsMax
    while (open.length > 0 && clock.now() < untilMs) {
      await Promise.all(open.splice(0, askedAtOnce).map(settleOne))
    }
  }

  let looking: Promise<void> | undefined
  let nextMs = 0
  const shared = () => {
    nextMs = clock.now() + limits.reconcilePauseMs
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }

  return {
    now: shared,
    beside() {
      if (clock.now() >= nextMs) shared().catch(() => undefined)
    },
  }
}

/**
 * The second from which no burn can begin any more. A permit lives until its deadline, even if its offer
 * expires later. A transfer is signed only while its offer lives.
 */
const endOf = ({ way, expiresAt, deadline }: Reservation): number =>
  way === 'permit' ? (deadline ?? expiresAt) : expiresAt
