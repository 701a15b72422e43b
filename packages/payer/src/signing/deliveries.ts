/** From a finished payload to the resource: where payments were sent, and how they ended. */
import { type ChallengeNonce, Json } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { endOf, isServed, type Outcome } from '../outcome.js'
import type { EndFacts, Guard } from '../policy/guard.js'
import type { BodyFacts } from '../policy/purchase.js'
import type { PaymentMemory, PaymentRecord } from '../state/payments.js'
import type { PermitNonces } from '../state/permit-nonces.js'

/** Where an offer came from. */
export type Origin = Required<Pick<PaymentRecord, 'request' | 'target' | 'echo'>> & {
  /** Told to a human who is asked, and never stored. */
  readonly body: BodyFacts | 'none'
}

export type Deliveries = {
  /** Remembers where an offer came from, in case its payment gets stuck before it is presented. */
  offered(challengeNonce: ChallengeNonce, origin: Origin): void
  originOf(challengeNonce: ChallengeNonce): Origin | undefined
  /** An undelivered payment for this request, claimed for the caller alone. */
  claim(request: string): Promise<PaymentRecord | undefined>
  /** This undelivered payment, claimed for the caller alone. Undefined while another process is at work on it. */
  take(challengeNonce: ChallengeNonce): Promise<PaymentRecord | undefined>
  /** Notes that a payment is being presented. Unknown challenges are left alone. */
  presenting(
    challengeNonce: ChallengeNonce,
    request: string,
    header: string,
  ): Promise<PaymentRecord | undefined>
  /**
   * Notes how a presentation ended, and tells what to do now: send the same payload again, or sign another
   * one for the same challenge, because a different payment used its permit nonce.
   */
  ended(
    challengeNonce: ChallengeNonce,
    outcome: Outcome,
    facts?: EndFacts,
  ): Promise<'send_again' | 'sign_again' | 'done'>
}

export function createDeliveries({
  memory,
  nonces,
  guard,
  limits,
}: {
  readonly memory: PaymentMemory
  readonly nonces: Pick<PermitNonces, 'release'>
  readonly guard: Pick<Guard, 'ended'>
  readonly limits: Pick<PayerLimits, 'resendsMax' | 'resignsMax' | 'offersSeenMax'>
}): Deliveries {
  const freeNonce = async (challengeNonce: ChallengeNonce, outcome: Outcome) => {
    // Without a clear answer the burn may be under way. The hold on the nonce then ends by the chain or by
    // its own age.
    if (['send_again', 'unknown', 'half', 'kept'].includes(outcome)) return
    await nonces.release(challengeNonce, outcome === 'accepted')
  }

  /** The record after an outcome, and what comes next. */
  function after(
    record: PaymentRecord,
    outcome: Outcome,
  ): [PaymentRecord, 'send_again' | 'sign_again' | 'done'] {
    const { payload, header, ...unsigned } = record
    if (outcome === 'send_again' && record.resends < limits.resendsMax) {
      return [{ ...record, delivery: 'open', resends: record.resends + 1 }, 'send_again']
    }
    const outrunNonce = permitNonceOf(payload)
    const resigns = (record.resigns ?? 0) + 1
    if (outcome === 'sign_again' && outrunNonce !== undefined && resigns <= limits.resignsMax) {
      return [{ ...unsigned, delivery: 'open', outrunNonce, resigns }, 'sign_again']
    }
    return [{ ...record, delivery: deliveryAt[endOf(outcome)] }, 'done']
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

    async take(challengeNonce) {
      const { isOurs, record } = await memory.hold(
        challengeNonce,
        (before) => before && (isServedOrOver(before) ? before : { ...before, delivery: 'open' }),
      )
      return isOurs && record && !isServedOrOver(record) ? record : undefined
    },

    presenting: (challengeNonce, request, header) =>
      memory.update(
        challengeNonce,
        (before) => before && { ...before, delivery: 'open', request: before.request ?? request, header },
      ),

    async ended(challengeNonce, outcome, facts = {}) {
      await freeNonce(challengeNonce, outcome)
      // A served payment may be forgotten from the next step on, so its money is noted first.
      if (isServed(outcome)) await guard.ended(challengeNonce, outcome, facts)
      let next: 'send_again' | 'sign_again' | 'done' = 'done'
      await memory.update(challengeNonce, (record) => {
        // An answer that comes late never takes a delivery back. A body that breaks off does.
        if (!record || (record.delivery === 'delivered' && outcome !== 'half')) return record
        const [then, what] = after(record, outcome)
        next = what
        return then
      })
      if (next === 'done' && !isServed(outcome)) await guard.ended(challengeNonce, outcome, facts)
      return next
    },
  }
}

const deliveryAt = { paid: 'delivered', pending: 'undelivered', failed: 'refused' } as const
const isServedOrOver = ({ delivery }: PaymentRecord) => delivery === 'delivered' || delivery === 'refused'

function permitNonceOf(payload: PaymentRecord['payload']): string | undefined {
  const permit = payload?.permit
  return Json.isObject(permit) && typeof permit.nonce === 'string' ? permit.nonce : undefined
}
