/** From a finished payload to the resource: what was sent where, and how it ended. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { PayerLimits } from './limits.js'
import type { Outcome } from './outcome.js'
import type { DeliveryState, PaymentMemory, PaymentRecord } from './payment-memory.js'
import type { PermitNonces } from './permit-nonces.js'

/** Where an offer came from. */
export type Origin = Required<Pick<PaymentRecord, 'request' | 'echo'>>

export type Deliveries = {
  /** Remembers where an offer came from, for a payment of it that gets stuck before it is presented. */
  offered(challengeNonce: ChallengeNonce, origin: Origin): void
  originOf(challengeNonce: ChallengeNonce): Origin | undefined
  /** An undelivered payment for this request, claimed for the caller alone. */
  claim(request: string): Promise<PaymentRecord | undefined>
  /** Notes that a payment is being presented. Unknown challenges are left alone. */
  presenting(challengeNonce: ChallengeNonce, request: string, header: string): Promise<boolean>
  /** Notes how a presentation ended, and says whether to send the same payload again now. */
  ended(challengeNonce: ChallengeNonce, outcome: Outcome): Promise<'send_again' | 'done'>
}

const stateAfter: Record<Outcome, DeliveryState> = {
  accepted: 'delivered',
  delivered: 'delivered',
  send_again: 'undelivered',
  refused: 'refused',
  unserved: 'undelivered',
  unknown: 'undelivered',
}

export function createDeliveries({
  memory,
  nonces,
  limits,
}: {
  readonly memory: PaymentMemory
  readonly nonces: Pick<PermitNonces, 'extend' | 'release'>
  readonly limits: Pick<PayerLimits, 'resendsMax' | 'offersSeenMax'>
}): Deliveries {
  const settleNonce = (challengeNonce: ChallengeNonce, outcome: Outcome) => {
    if (outcome === 'send_again') nonces.extend(challengeNonce)
    // Without a clear answer the burn may be under way: the hold ends by the chain or by its age.
    else if (outcome !== 'unknown') nonces.release(challengeNonce, outcome === 'accepted')
  }

  const origins = new Map<ChallengeNonce, Origin>()

  return {
    offered(challengeNonce, origin) {
      origins.set(challengeNonce, origin)
      const [oldest] = origins.keys()
      if (oldest !== undefined && origins.size > limits.offersSeenMax) origins.delete(oldest)
    },

    originOf: (challengeNonce) => origins.get(challengeNonce),

    claim: (request) => memory.claimUndelivered(request),

    async presenting(challengeNonce, request, header) {
      const record = await memory.update(
        challengeNonce,
        (before) => before && { ...before, delivery: 'open', request, header },
      )
      return record !== undefined
    },

    async ended(challengeNonce, outcome) {
      settleNonce(challengeNonce, outcome)
      let again = false
      await memory.update(challengeNonce, (record) => {
        // An answer that comes late never takes a delivery back.
        if (!record || record.delivery === 'delivered') return record
        again = outcome === 'send_again' && record.resends < limits.resendsMax
        if (again) return { ...record, delivery: 'open', resends: record.resends + 1 }
        return { ...record, delivery: stateAfter[outcome] }
      })
      return again ? 'send_again' : 'done'
    },
  }
}
