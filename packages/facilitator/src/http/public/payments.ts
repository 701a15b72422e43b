/** The payment endpoints: supported, challenge, verify, settle, and the status of one payment. */
import {
  FacilitatorApi,
  Json,
  Network,
  Offer,
  parseAmount,
  parseChallengeNonce,
  type Rejection,
  type Result,
  reject,
} from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Profile } from '../../config/profile.js'
import type { IssueChallenge } from '../../payment/issue/challenge.js'
import type { Grant, Ledger } from '../../payment/ledger-port.js'
import { stateAt } from '../../payment/lifecycle.js'
import type { Clock, Tickets } from '../../payment/ports.js'
import type { Payment } from '../../payment/records.js'
import type { Settle } from '../../payment/settle/settle.js'
import type { Verify } from '../../payment/settle/verify.js'
import type { Status } from '../../payment/status.js'
import type { Callers } from '../callers.js'
import { hangUpOf } from '../hang-up.js'
import type { Admission, Presentations, Standing } from '../presentations.js'
import { type Surface, sendRejection, withStatus } from '../problem.js'

export type PaymentApiDeps = {
  readonly chainId: number
  readonly profile: Profile
  readonly issueChallenge: IssueChallenge
  readonly verify: Verify
  readonly settle: Settle
  readonly status: Status
  readonly ledger: Pick<Ledger, 'find'>
  readonly tickets: Pick<Tickets, 'matches'>
  readonly clock: Clock
  readonly callers: Callers
  readonly presentations: Presentations
  readonly onGrantFailure: (err: unknown) => void
}

type Admitted = Exclude<Result<FacilitatorApi.PresentedPayment>, Rejection> & {
  /** The record of the challenge that is paid; absent when it is not ours. */
  readonly payment: Payment | undefined
  refused(): void
}

export function registerPaymentApi(app: FastifyInstance, deps: PaymentApiDeps): void {
  const { chainId, profile, callers } = deps
  const network = Network.format(chainId)

  const refuse = (reply: FastifyReply, rejection: Rejection, surface: Surface, retryAfter?: number) =>
    sendRejection(reply, rejection, { surface, chainId, ...(retryAfter !== undefined && { retryAfter }) })

  app.get(
    '/supported',
    async (): Promise<FacilitatorApi.SupportedResponse> => ({
      kinds: [{ x402Version: Offer.x402Version, scheme: Offer.scheme, network }],
      extensions: [],
      signers: {},
    }),
  )

  app.post('/challenge', async (request, reply) => {
    if (!profile.acceptsPayments) {
      const message = `payment acceptance is disabled for the profile "${profile.name}"`
      return refuse(reply, reject('acceptance_disabled', message), 'plain')
    }
    const { key, rates } = callers.of(request)
    for (const rate of [rates.shared, rates.issuance]) {
      const taken = rate.take(key)
      if (taken !== 'ok') return refuse(reply, reject('too_many_requests'), 'plain', taken.retryAfterSeconds)
    }
    if (!Json.isObject(request.body)) return refuse(reply, reject('malformed_request'), 'plain')
    const listPrice = parseAmount(request.body.amount)
    if (listPrice === undefined) return refuse(reply, reject('invalid_amount'), 'plain')
    const offer = await deps.issueChallenge(listPrice, { key, gone: await hangUpOf(request) })
    return offer.ok ? reply.send(offer.value) : refuse(reply, offer, 'plain')
  })

  app.post('/verify', async (request, reply) => {
    const presented = await admit(request, FacilitatorApi.parsePaymentRequest)
    if (!presented.ok) return refuse(reply, presented, 'verify', presented.retryAfter)
    const response = await deps.verify(presented.value, presented.payment)
    if (!response.isValid) presented.refused()
    return withStatus(reply, response.invalidReason).send(response)
  })

  app.post('/settle', async (request, reply) => {
    const presented = await admit(request, FacilitatorApi.parseSettleRequest)
    if (!presented.ok) return refuse(reply, presented, 'settle', presented.retryAfter)
    const { response, grant } = await deps.settle(presented.value, presented.payment)
    if (!response.success) presented.refused()
    if (grant) endWithAnswer(request, reply, grant)
    return withStatus(reply, response.errorReason).send(response)
  })

  app.get<{ Params: { challengeNonce: string } }>('/payments/:challengeNonce', async (request, reply) => {
    const nonce = parseChallengeNonce(request.params.challengeNonce)
    const status = nonce && (await deps.status(nonce))
    return status ? reply.send(status) : refuse(reply, reject('not_found', 'no such payment'), 'plain')
  })

  /** Profile, then form, then rate: a request for a challenge of ours does not compete with strangers. */
  async function admit(
    request: FastifyRequest,
    parse: (body: unknown) => Result<FacilitatorApi.PresentedPayment>,
  ): Promise<Admitted | (Rejection & { retryAfter?: number })> {
    if (!profile.acceptsPayments) return reject('profile_unsupported')
    const presented = parse(request.body)
    const caller = callers.of(request)
    const tooMany = ({ retryAfterSeconds: retryAfter }: Admission & { ok: false }) => ({
      ...reject('too_many_requests'),
      retryAfter,
    })
    if (!presented.ok) {
      const admission = await deps.presentations.admit(caller, undefined)
      return admission.ok ? presented : tooMany(admission)
    }
    const { payload, ticket } = presented.value
    const nonce = payload.challengeNonce
    let payment: Payment | undefined
    const admission = await deps.presentations.admit(caller, {
      nonce,
      isTicketed: ticket !== undefined && deps.tickets.matches(nonce, ticket),
      async look() {
        payment = await deps.ledger.find(nonce)
        return standingOf(payment)
      },
    })
    return admission.ok ? { ...presented, payment, refused: admission.refused } : tooMany(admission)
  }

  function standingOf(payment: Payment | undefined): Standing {
    if (!payment) return 'unknown'
    const isExpired = stateAt(payment, deps.clock.now()) === 'expired'
    return isExpired || payment.granted ? 'known' : 'awaited'
  }

  /**
   * The grant is used once the answer was written; a connection that broke before leaves it for the next. The
   * connection is watched, not the response: one that waits behind another on it never hears of its end.
   */
  function endWithAnswer(request: FastifyRequest, { raw }: FastifyReply, grant: Grant): void {
    const { socket } = request.raw
    const end = (how: () => Promise<void>) => {
      raw.off('finish', onFinish)
      socket.off('close', onClose)
      how().catch(deps.onGrantFailure)
    }
    const onFinish = () => end(grant.use)
    const onClose = () => end(grant.giveBack)
    if (socket.destroyed) {
      end(grant.giveBack)
      return
    }
    raw.once('finish', onFinish)
    socket.once('close', onClose)
  }
}
