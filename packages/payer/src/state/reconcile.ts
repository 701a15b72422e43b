/** The states of a promised burn, as the chain tells them. */
import { type ChallengeNonce, type Clock, type Hex, type TxHash, unixSeconds } from '@svc-zerc20/protocol'
import type { AuditLog } from './audit-log.js'
import type { Totals } from './capped-totals.js'
import type { PaymentMemory } from './payments.js'
import type { Reservation } from './spend-state.js'

/** `absent`: no burn exists, and none can come any more. */
export type BurnState = 'burned' | 'absent' | 'unknown'

/** The signed transfer of a self-transfer, where there is one. */
export type SignedTransfer = { readonly hash: TxHash; readonly raw: Hex }

/** What must be known of a payment to look for its burn. */
export type PromisedBurn = Pick<
  Reservation,
  'way' | 'helper' | 'deadline' | 'token' | 'payer' | 'payTo' | 'amount'
>

export type ReadBurnState = (
  challengeNonce: ChallengeNonce,
  reservation: PromisedBurn,
  transfer: SignedTransfer | undefined,
) => Promise<BurnState>

/** How long past its end a reservation is left alone: its holder may still be at work. */
const graceSeconds = 60

export function createReconcile({
  totals,
  audit,
  memory,
  burnState,
  clock,
}: {
  readonly totals: Totals
  readonly audit: AuditLog
  readonly memory: Pick<PaymentMemory, 'get' | 'hold'>
  readonly burnState: ReadBurnState
  readonly clock: Clock
}): () => Promise<void> {
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

  async function settle(challengeNonce: ChallengeNonce, reservation: Reservation): Promise<void> {
    const transfer = await transferOf(challengeNonce, reservation)
    if (reservation.way === 'self-transfer' && !transfer && !(await endIntent(challengeNonce))) return
    const state = await burnState(challengeNonce, reservation, transfer)
    if (state === 'burned') {
      await totals.spend(challengeNonce)
      await audit.append({ event: 'paid', challengeNonce, why: 'the chain has the burn' })
    }
    if (state === 'absent') {
      if (!(await totals.release(challengeNonce, reservation.owner))) return
      const why = 'the chain has no burn, and none can come'
      await audit.append({ event: 'released', challengeNonce, why })
    }
  }

  return async () => {
    const { reservations } = await totals.state()
    const now = unixSeconds(clock)
    for (const [nonce, reservation] of Object.entries(reservations)) {
      const challengeNonce = nonce as ChallengeNonce
      // What became of a signed transfer can be told at any time.
      const isOver = endOf(reservation) + graceSeconds <= now
      if (isOver || (await transferOf(challengeNonce, reservation))) await settle(challengeNonce, reservation)
    }
  }
}

/**
 * The second from which no burn can begin any more. A permit lives until its deadline, even if its offer
 * expires later. A transfer is signed only while its offer lives.
 */
const endOf = ({ way, expiresAt, deadline }: Reservation): number =>
  way === 'permit' ? (deadline ?? expiresAt) : expiresAt
