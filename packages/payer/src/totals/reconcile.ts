/** Ends reservations that a crash, a silence or a refusal left behind, once the chain tells what became of the money. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type Clock, unixSeconds } from '../clock.js'
import type { PaymentMemory } from '../delivery/payment-memory.js'
import type { ReadBurnState } from '../signing/burn-state.js'
import type { AuditLog } from '../store/audit-log.js'
import type { Reservation } from './spend-state.js'
import type { Totals } from './totals.js'

/** How long past its offer a reservation is left alone: whoever holds it may still be at it. */
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
  readonly memory: Pick<PaymentMemory, 'get'>
  readonly burnState: ReadBurnState
  readonly clock: Clock
}): () => Promise<void> {
  async function settle(challengeNonce: ChallengeNonce, reservation: Reservation): Promise<void> {
    const transfer = (await memory.get(challengeNonce))?.burn
    const state = await burnState(challengeNonce, reservation, transfer)
    if (state === 'burned') {
      await totals.spend(challengeNonce)
      await audit.append({ event: 'paid', challengeNonce, why: 'the chain has the burn' })
    }
    if (state === 'absent') {
      await totals.release(challengeNonce)
      await audit.append({
        event: 'released',
        challengeNonce,
        why: 'the chain has no burn, and none can come',
      })
    }
  }

  return async () => {
    const { reservations } = await totals.state()
    const now = unixSeconds(clock)
    for (const [nonce, reservation] of Object.entries(reservations)) {
      if (Math.max(reservation.expiresAt, reservation.deadline ?? 0) + graceSeconds > now) continue
      await settle(nonce as ChallengeNonce, reservation)
    }
  }
}
