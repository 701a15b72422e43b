/** The payment endpoints: supported, challenge, verify, settle, and the status of one payment. */
import {
  FacilitatorApi,
  Json,
  Network,
  Offer,
  parseAmount,
  parseChallengeNonce,
  type Rejection,
  reject,
} from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { IssueChallenge } from '../../payment/issue/challenge.js'
import type { Settle } from '../../payment/settle/settle.js'
import type { Verify } from '../../payment/settle/verify.js'
import type { Status } from '../../payment/status.js'
import { hangUpOf } from '../hang-up.js'
import { type Surface, sendRejection, withStatus } from '../problem.js'
import { type AdmitDeps, createAdmit } from './admit.js'
import { useGrantOnceWritten } from './use-grant.js'

export type PaymentApiDeps = AdmitDeps & {
  readonly chainId: number
  readonly issueChallenge: IssueChallenge
  readonly verify: Verify
  readonly settle: Settle
  readonly status: Status
  readonly onGrantFailure: (err: unknown) => void
}

type Refuse = (
  reply: FastifyReply,
  rejection: Rejection,
  surface: Surface,
  retryAfter?: number,
) => FastifyReply

export function registerPaymentApi(app: FastifyInstance, deps: PaymentApiDeps): void {
  const { chainId } = deps
  const network = Network.format(chainId)
  const refuse: Refuse = (reply, rejection, surface, retryAfter) =>
    sendRejection(reply, rejection, { surface, chainId, ...(retryAfter !== undefined && { retryAfter }) })

  app.get(
    '/supported',
    async (): Promise<FacilitatorApi.SupportedResponse> => ({
      kinds: [{ x402Version: Offer.x402Version, scheme: Offer.scheme, network }],
      extensions: [],
      signers: {},
    }),
  )
  registerChallenge(app, deps, refuse)
  registerPresented(app, deps, refuse)
  app.get<{ Params: { challengeNonce: string } }>('/payments/:challengeNonce', async (request, reply) => {
    const nonce = parseChallengeNonce(request.params.challengeNonce)
    const status = nonce && (await deps.status(nonce))
    return status ? reply.send(status) : refuse(reply, reject('not_found', 'no such payment'), 'plain')
  })
}

function registerChallenge(app: FastifyInstance, deps: PaymentApiDeps, refuse: Refuse): void {
  const { profile, callers } = deps
  app.post('/challenge', async (request, reply) => {
    if (!profile.acceptsPayments) {
      const message = `payment acceptance is disabled for the profile "${profile.name}"`
      return refuse(reply, reject('acceptance_disabled', message), 'plain')
    }
    const { key, rates } = callers.of(request)
    for (const rate of [rates.shared, rates.issuance]) {
      const taken = await rate.take(key)
      if (taken !== 'ok') return refuse(reply, reject('too_many_requests'), 'plain', taken.retryAfterSeconds)
    }
    if (!Json.isObject(request.body)) return refuse(reply, reject('malformed_request'), 'plain')
    const listPrice = parseAmount(request.body.amount)
    if (listPrice === undefined) return refuse(reply, reject('invalid_amount'), 'plain')
    const offer = await deps.issueChallenge(listPrice, { key, gone: await hangUpOf(request) })
    return offer.ok ? reply.send(offer.value) : refuse(reply, offer, 'plain')
  })
}

/** The two endpoints that a payment is presented to. */
function registerPresented(app: FastifyInstance, deps: PaymentApiDeps, refuse: Refuse): void {
  const admit = createAdmit(deps)

  app.post('/verify', async (request, reply) => {
    const presented = await admit(request, FacilitatorApi.parsePaymentRequest)
    if (!presented.ok) return refuse(reply, presented, 'verify', presented.retryAfter)
    const response = await deps.verify(presented.value, presented.payment)
    if (!response.isValid) await presented.refused()
    return withStatus(reply, response.invalidReason).send(response)
  })

  app.post('/settle', async (request, reply) => {
    const presented = await admit(request, FacilitatorApi.parseSettleRequest)
    if (!presented.ok) return refuse(reply, presented, 'settle', presented.retryAfter)
    const { response, grant } = await deps.settle(presented.value, presented.payment)
    if (!response.success) await presented.refused()
    if (grant) useGrantOnceWritten(request, reply, grant, deps.onGrantFailure)
    return withStatus(reply, response.errorReason).send(response)
  })
}
