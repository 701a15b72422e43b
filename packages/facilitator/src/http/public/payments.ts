/** The payment endpoints: supported, challenge, verify, settle, and the status of one payment. */
import { FacilitatorApi, Json, Network, Offer, parseAmount, type Result, reject } from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import type { Profile } from '../../config/settings.js'
import type { IssueChallenge } from '../../payment/issue/challenge.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Settle } from '../../payment/settle/settle.js'
import type { Verify } from '../../payment/settle/verify.js'
import type { Status } from '../../payment/status.js'
import type { Admission } from '../admission.js'
import { hangUpOf } from '../hang-up.js'
import { withStatus } from '../problem.js'
import { noSuchPayment, routesOf } from '../route.js'
import * as schemas from './schemas.js'
import { useGrantOnceWritten } from './use-grant.js'

export type PaymentApiDeps = {
  readonly profile: Profile
  readonly ledger: Pick<Ledger, 'find'>
  readonly admission: Pick<Admission, 'request' | 'issue' | 'present'>
  readonly chainId: number
  readonly issueChallenge: IssueChallenge
  readonly verify: Verify
  readonly settle: Settle
  readonly status: Status
  readonly onGrantFailure: (err: unknown) => void
}

const route = routesOf<PaymentApiDeps>({ tag: 'payment' })

/** Who may present a payment: profile, then form, then rate. */
async function admit(
  request: FastifyRequest,
  parse: (body: unknown) => Result<FacilitatorApi.PresentedPayment>,
  { profile, ledger, admission }: PaymentApiDeps,
) {
  if (!profile.acceptsPayments) return reject('profile_unsupported')
  const presented = parse(request.body)
  if (!presented.ok) return admission.request(request) ?? presented
  const payment = await ledger.find(presented.value.payload.challengeNonce)
  return admission.present(request, payment) ?? { ...presented, payment }
}

export const paymentRoutes = [
  route({
    method: 'GET',
    path: '/supported',
    summary: 'Which scheme and network are served',
    answer: schemas.supported,
    handle: async (_asked, { chainId }): Promise<FacilitatorApi.SupportedResponse> => ({
      kinds: [{ x402Version: Offer.x402Version, scheme: Offer.scheme, network: Network.format(chainId) }],
      extensions: [],
      signers: {},
    }),
  }),

  route({
    method: 'POST',
    path: '/challenge',
    summary: 'A fresh one-time offer',
    body: schemas.challengeRequest,
    isWire: true,
    answer: schemas.challengeOffer,
    refusals: [403, 429, 503],
    async handle({ request }, { profile, admission, issueChallenge }) {
      if (!profile.acceptsPayments) {
        const message = `payment acceptance is disabled for the profile "${profile.name}"`
        return reject('acceptance_disabled', message)
      }
      const caller = admission.issue(request)
      if (!caller.ok) return caller
      if (!Json.isObject(request.body)) return reject('malformed_request')
      const listPrice = parseAmount(request.body.amount)
      if (listPrice === undefined) return reject('invalid_amount')
      const offer = await issueChallenge(listPrice, { key: caller.value, gone: await hangUpOf(request) })
      return offer.ok ? offer.value : offer
    },
  }),

  route({
    method: 'POST',
    path: '/verify',
    summary: 'Would this payment be accepted now? Changes nothing',
    body: schemas.paymentRequest,
    isWire: true,
    answer: schemas.verifyResponse,
    refusal: schemas.verifyResponse,
    refusals: [429, 503],
    async handle({ request, reply }, deps) {
      const presented = await admit(request, FacilitatorApi.parsePaymentRequest, deps)
      if (!presented.ok) return presented
      const response = await deps.verify(presented.value, presented.payment)
      return withStatus(reply, response.invalidReason).send(response)
    },
  }),

  route({
    method: 'POST',
    path: '/settle',
    summary: 'Accept this payment',
    body: schemas.settleRequest,
    isWire: true,
    answer: schemas.settleResponse,
    refusal: schemas.settleResponse,
    refusals: [429, 503],
    async handle({ request, reply }, deps) {
      const presented = await admit(request, FacilitatorApi.parseSettleRequest, deps)
      if (!presented.ok) return presented
      const { response, grant } = await deps.settle(presented.value, presented.payment)
      if (grant) useGrantOnceWritten(request, reply, grant, deps.onGrantFailure)
      return withStatus(reply, response.errorReason).send(response)
    },
  }),

  route({
    method: 'GET',
    path: '/payments/{challengeNonce}',
    summary: 'Where one payment stands',
    answer: schemas.paymentStatus,
    handle: async ({ nonce }, { status }) => (await status(nonce)) ?? noSuchPayment,
  }),
]
