/**
 * Ends reservations that a crash, a silent seller or a refusal left behind, once the chain shows what became
 * of the money.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type Clock, unixSeconds } from '../clock.js'
import type { PaymentMemory } from '../payment/payment-memory.js'
import type { AuditLog } from '../store/audit-log.js'
import type { ReadBurnState } from './burn-state.js'
import type { Reservation } from './spend-state.js'
import type { Totals } from './totals.js'

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
