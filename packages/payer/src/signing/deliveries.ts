/** From a finished payload to the resource: where payments were sent, and how they ended. */
import {
  type ChallengeNonce,
  createBoundedMap,
  Headers,
  Json,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { endOf, isServed, type Outcome } from '../outcome.js'
import { afterSigning, PayerError } from '../payer-error.js'
import type { EndFacts, Guard } from '../policy/guard.js'
import type { BodyFacts } from '../policy/purchase.js'
import type { BurnVerdict } from '../state/burn-verdict.js'
import type { PaymentMemory, PaymentRecord } from '../state/payments.js'
import type { PermitNonces } from '../state/permit-nonces.js'
import type { Burns } from './burns.js'

/** Where an offer came from. */
export type Origin = Required<Pick<PaymentRecord, 'request' | 'target' | 'echo'>> & {
  /** Told to a human who is asked, and never stored. */
  readonly body: BodyFacts | 'none'
  /** The earlier payment for the same request that would be replaced, and may still burn. */
  readonly instead?: ChallengeNonce | undefined
}

export type Deliveries = {
  /**
   * Remembers where an offer came from. The first origin of a challenge stays: a seller that makes the same challenge for
   * another request would have one request approved and another one paid. That is refused with `offer_changed`.
   */
  offered(challengeNonce: ChallengeNonce, origin: Origin): Promise<void>
  originOf(challengeNonce: ChallengeNonce): Origin | undefined
  /** The payment that this one replaced, where there is one. */
  before(record: PaymentRecord): Promise<PaymentRecord | undefined>
  /** Goes back to the payment before this one, which cannot burn any more. */
  goBack(before: PaymentRecord, record: PaymentRecord): Promise<PaymentRecord>
  /** Notes that a payment is over: it has no burn and none can come, or its caller knows that it was for nothing. */
  over(challengeNonce: ChallengeNonce): Promise<void>
  /** An undelivered payment for this request, claimed for the caller alone. */
  claim(request: string): Promise<PaymentRecord | undefined>
  /** This undelivered payment, claimed for the caller alone. Undefined while another process is at work on it. */
  take(challengeNonce: ChallengeNonce): Promise<PaymentRecord | undefined>
  /**
   * Notes that a payment is being presented. Unknown challenges are left alone, and so is a payment of another request,
   * which rejects with `payment_pending`: it is signed, and goes nowhere else.
   */
  presenting(
    challengeNonce: ChallengeNonce,
    request: string,
    header: string,
  ): Promise<PaymentRecord | undefined>
  /** Notes how a presentation ended, and tells what to do now, and what the chain says of a burn that was for nothing. */
  ended(challengeNonce: ChallengeNonce, outcome: Outcome, facts?: EndFacts): Promise<Ended>
}

export type Ended = {
  /**
   * Send the same payload again, or sign another one for the same challenge, because a different payment used its permit
   * nonce.
   */
  readonly next: 'send_again' | 'sign_again' | 'done'
  readonly verdict: BurnVerdict
}

export function createDeliveries({
  memory,
  nonces,
  guard,
  verdictOf,
  limits,
}: {
  readonly memory: PaymentMemory
  readonly nonces: Pick<PermitNonces, 'release'>
  readonly guard: Pick<Guard, 'ended'>
  readonly verdictOf: Burns['verdictOf']
  readonly limits: Pick<PayerLimits, 'resendsMax' | 'resignsMax' | 'offersSeenMax'>
}): Deliveries {
  const freeNonce = async (challengeNonce: ChallengeNonce, outcome: Outcome) => {
    // Without a clear answer the burn may be under way. The hold on the nonce then ends by the chain or by
    // its own age.
    if (['send_again', 'unknown', 'half', 'kept'].includes(outcome)) return
    await nonces.release(challengeNonce, outcome === 'accepted')
  }

  const origins = new Map<ChallengeNonce, Origin>()
  /** What was delivered last: the memory soon keeps the names alone, and a body that breaks off makes it a whole again. */
  const served = createBoundedMap<ChallengeNonce, PaymentRecord>(servedMax)

  return {
    ...createReplaced(memory),
    ...createPresenting(memory),

    async offered(challengeNonce, origin) {
      // A payment that was begun knows its request, and it may be another process that began it.
      const begun = (await memory.get(challengeNonce))?.request
      const known = origins.get(challengeNonce)
      const first = begun ?? known?.request ?? origin.request
      if (first !== origin.request) throw offeredElsewhere(challengeNonce, first)
      const { instead = known?.instead } = origin
      origins.set(challengeNonce, { ...(known?.request === first ? known : origin), instead })
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

    async ended(challengeNonce, outcome, facts = {}) {
      await freeNonce(challengeNonce, outcome)
      // A served payment may be forgotten from the next step on, so its money is noted first.
      if (isServed(outcome)) await guard.ended(challengeNonce, outcome, facts)
      const failed = endOf(outcome) === 'failed' ? await memory.get(challengeNonce) : undefined
      const verdict: BurnVerdict = failed ? await verdictOf(failed) : { state: 'unknown' }
      let next: Ended['next'] = 'done'
      const delivered = served.get(challengeNonce)
      const kept = await memory.update(challengeNonce, (known) => {
        const record = known ?? (outcome === 'half' ? delivered : undefined)
        // An answer that comes late never takes a delivery back. A body that breaks off does.
        if (!record || (record.delivery === 'delivered' && outcome !== 'half')) return record
        const [then, what] = after(record, outcome, verdict, limits)
        next = what
        return then
      })
      if (kept?.delivery === 'delivered') served.set(challengeNonce, kept)
      if (next === 'done' && !isServed(outcome)) await guard.ended(challengeNonce, outcome, facts)
      return { next, verdict }
    },
  }
}

/** The record after an outcome, and what comes next. */
function after(
  record: PaymentRecord,
  outcome: Outcome,
  { state }: BurnVerdict,
  { resendsMax, resignsMax }: Pick<PayerLimits, 'resendsMax' | 'resignsMax'>,
): [PaymentRecord, Ended['next']] {
  const { payload, header, ...unsigned } = record
  if (outcome === 'send_again' && record.resends < resendsMax) {
    return [{ ...record, delivery: 'open', resends: record.resends + 1 }, 'send_again']
  }
  const outrunNonce = permitNonceOf(payload)
  const resigns = (record.resigns ?? 0) + 1
  if (outcome === 'sign_again' && outrunNonce !== undefined && resigns <= resignsMax) {
    return [{ ...unsigned, delivery: 'open', outrunNonce, resigns }, 'sign_again']
  }
  const end = endOf(outcome)
  // A seller's refusal ends no payment: its burn may come all the same.
  const isOpen = end === 'failed' && state === 'unknown'
  const isTold = record.isTold === true || (isOpen && outcome === 'used')
  const delivery = isOpen ? 'undelivered' : deliveryAt[end]
  return [{ ...record, delivery, ...(isTold && { isTold }) }, 'done']
}

/** Delivered payments whose bodies may still break off. */
const servedMax = 1_000

const deliveryAt = { paid: 'delivered', pending: 'undelivered', failed: 'refused' } as const
const isServedOrOver = ({ delivery }: PaymentRecord) => delivery === 'delivered' || delivery === 'refused'

function createPresenting(memory: PaymentMemory): Pick<Deliveries, 'presenting'> {
  return {
    async presenting(challengeNonce, request, header) {
      try {
        const first = (await memory.get(challengeNonce))?.request ?? request
        if (first !== request) {
          const what = `challenge ${challengeNonce} was offered for ${first}, and its payment is presented there only`
          const todo = 'Make that request again: its payment is presented first.'
          throw new PayerError('payment_pending', what, { todo })
        }
        return await memory.update(
          challengeNonce,
          (before) => before && { ...before, delivery: 'open', request, header },
        )
      } catch (error) {
        throw afterSigning(error, `challenge ${challengeNonce}`, burnIn(header))
      }
    },
  }
}

/** The earlier payment for a request, and the one that replaced it. */
function createReplaced(memory: PaymentMemory): Pick<Deliveries, 'before' | 'goBack' | 'over'> {
  const setDelivery = (challengeNonce: ChallengeNonce, delivery: PaymentRecord['delivery']) =>
    memory.update(challengeNonce, (before) => before && { ...before, delivery })

  return {
    before: async ({ instead }) => instead && memory.get(instead),

    async goBack(before, record) {
      await setDelivery(before.challengeNonce, 'open')
      await setDelivery(record.challengeNonce, 'refused')
      return before
    },

    async over(challengeNonce) {
      await setDelivery(challengeNonce, 'refused')
    },
  }
}

/** The refusal of a challenge that was made for another request before. */
export const offeredElsewhere = (challengeNonce: ChallengeNonce, first: string): PayerError =>
  new PayerError('offer_changed', `challenge ${challengeNonce} was offered for ${first} before`)

/** The transfer that a payment header names. */
export function burnIn(header: string): TxHash | undefined {
  const decoded = Headers.decode(header)
  const payload = decoded.ok && Json.isObject(decoded.value) ? decoded.value.payload : undefined
  return Json.isObject(payload) ? parseTxHash(payload.burnTxHash) : undefined
}

function permitNonceOf(payload: PaymentRecord['payload']): string | undefined {
  const permit = payload?.permit
  return Json.isObject(permit) && typeof permit.nonce === 'string' ? permit.nonce : undefined
}
