/** Who may present a payment: profile, then form, then rate. A challenge of ours does not compete with strangers. */
import { type FacilitatorApi, type Rejection, type Result, reject } from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import type { Profile } from '../../config/settings.js'
import type { Ledger } from '../../payment/ledger-port.js'
import { stateAt } from '../../payment/lifecycle.js'
import type { Clock, Tickets } from '../../payment/ports.js'
import type { Payment } from '../../payment/records.js'
import type { Callers } from '../callers.js'
import type { Admission, Presentations, Standing } from '../presentations.js'
import type { Refusal } from '../problem.js'

export type Admitted = Exclude<Result<FacilitatorApi.PresentedPayment>, Rejection> & {
  /** The record of the challenge that is paid; absent when it is not ours. */
  readonly payment: Payment | undefined
  /** Call this when the payment turns out to be bad. */
  refused(): Promise<void>
}

export type AdmitDeps = {
  readonly profile: Profile
  readonly ledger: Pick<Ledger, 'find'>
  readonly tickets: Pick<Tickets, 'matches'>
  readonly clock: Pick<Clock, 'now'>
  readonly callers: Pick<Callers, 'of'>
  readonly presentations: Presentations
}

export async function admit(
  request: FastifyRequest,
  parse: (body: unknown) => Result<FacilitatorApi.PresentedPayment>,
  { profile, ledger, tickets, clock, callers, presentations }: AdmitDeps,
): Promise<Admitted | Refusal> {
  if (!profile.acceptsPayments) return reject('profile_unsupported')
  const presented = parse(request.body)
  const caller = callers.of(request)
  if (!presented.ok) {
    const admission = await presentations.admit(caller, undefined)
    return admission.ok ? presented : tooMany(admission)
  }
  const { payload, ticket } = presented.value
  const nonce = payload.challengeNonce
  let payment: Payment | undefined
  const admission = await presentations.admit(caller, {
    nonce,
    isTicketed: ticket !== undefined && tickets.matches(nonce, ticket),
    async look() {
      payment = await ledger.find(nonce)
      return standingOf(payment, clock.now())
    },
  })
  return admission.ok ? { ...presented, payment, refused: admission.refused } : tooMany(admission)
}

const tooMany = ({ retryAfterSeconds: retryAfter }: Admission & { ok: false }) => ({
  ...reject('too_many_requests'),
  retryAfter,
})

function standingOf(payment: Payment | undefined, nowMs: number): Standing {
  if (!payment) return 'unknown'
  return stateAt(payment, nowMs) === 'expired' || payment.granted ? 'known' : 'awaited'
}
