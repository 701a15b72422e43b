/** The payment endpoints: supported, challenge, verify, settle, and the status of one payment. */
import {
  accept,
  FacilitatorApi,
  Json,
  Network,
  Offer,
  parseAmount,
  type Result,
  reject,
} from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { type Profile, sellerIn } from '../../config/settings.js'
import type { IssueChallenge } from '../../payment/issue/challenge.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Settle } from '../../payment/settle/settle.js'
import type { Verify } from '../../payment/settle/verify.js'
import type { Status } from '../../payment/status.js'
import type { Admission } from '../admission.js'
import { withStatus } from '../problem.js'
import { noSuchPayment, routesOf } from '../route.js'
import {
  address,
  baseUnits,
  count,
  hex,
  named,
  network,
  nonce,
  publicPhase,
  reason,
  seconds,
  tokenLabel,
  txHash,
} from '../schema-parts.js'
import type { UnderWay } from '../under-way.js'
import { hangUpOf, useGrantOnceWritten } from './caller-connection.js'

// The bodies, named as in the OpenAPI document. Bodies of the wire protocol are read by the parsers of
// `@svc-zerc20/protocol`, which also know the order of reasons; a test compares those with these schemas.

const supported = named(
  'SupportedResponse',
  'Which scheme and network are served.',
  z.looseObject({
    kinds: z.array(
      z.looseObject({ x402Version: z.literal(Offer.x402Version), scheme: z.literal(Offer.scheme), network }),
    ),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(z.string())),
  }),
)

const challengeRequest = named(
  'ChallengeRequest',
  'The list price in base units, from 1 to 2^248 - 1.',
  z.looseObject({ amount: z.string().regex(/^[1-9][0-9]{0,74}$/) }),
)

const challengeOffer = named(
  'ChallengeOffer',
  'A fresh offer for one payment.',
  z.looseObject({
    payTo: address,
    amount: baseUnits,
    token: address,
    chainId: z.int().positive(),
    challengeNonce: nonce,
    expiresAt: seconds,
    helper: address.optional(),
    deadline: seconds.optional(),
    fee: z.looseObject({ amount: baseUnits, bps: count }).optional(),
    ticket: z.string().optional(),
    tokenLabel: tokenLabel.optional(),
  }),
)

const permitPayload = named(
  'PermitPayload',
  'The payer signed; the facilitator broadcasts.',
  z.looseObject({
    challengeNonce: nonce,
    payer: address,
    permit: z.looseObject({
      value: baseUnits,
      nonce: baseUnits,
      deadline: baseUnits,
      v: z.int().min(0).max(255),
      r: hex(32),
      s: hex(32),
    }),
    burnAuthSig: hex(65),
  }),
)

const selfTransferPayload = named(
  'SelfTransferPayload',
  'The payer broadcast the burn. None of the fields of a permit may be there.',
  z.looseObject({
    challengeNonce: nonce,
    burnTxHash: txHash,
    payer: z.never().optional(),
    permit: z.never().optional(),
    burnAuthSig: z.never().optional(),
  }),
)

const paymentRequest = named(
  'PaymentRequest',
  'A payment as the x402 middleware presents it.',
  z.looseObject({
    x402Version: z.literal(Offer.x402Version),
    paymentPayload: z.looseObject({
      x402Version: z.literal(Offer.x402Version),
      accepted: z.looseObject({}),
      payload: z.union([permitPayload, selfTransferPayload]),
    }),
    paymentRequirements: z.looseObject({ scheme: z.literal(Offer.scheme) }),
  }),
)

/** Fields that a direct body may have beside its payload. */
const directBody = z.looseObject({ paymentPayload: z.never().optional(), ticket: z.string().optional() })

const settleRequest = named(
  'SettleRequest',
  'The official shape, or one of the two direct bodies that older integrations send.',
  z.union([paymentRequest, permitPayload.and(directBody), selfTransferPayload.and(directBody)]),
)

const verifyResponse = named(
  'VerifyResponse',
  'Would this payment be accepted now? Promises nothing.',
  z.looseObject({
    isValid: z.boolean(),
    invalidReason: reason.optional(),
    invalidMessage: z.string().optional(),
    payer: address.optional(),
  }),
)

const settleResponse = named(
  'SettleResponse',
  'Success means accepted. `transaction` is the burn, or "" while there is none.',
  z.looseObject({
    success: z.boolean(),
    errorReason: reason.optional(),
    errorMessage: z.string().optional(),
    payer: address.optional(),
    transaction: z.union([txHash, z.literal('')]),
    network,
    extra: z.looseObject({ phase: publicPhase }).optional(),
  }),
)

const paymentStatus = named(
  'PaymentStatus',
  'What the holder of a challenge nonce may know.',
  z.looseObject({
    challengeNonce: nonce,
    phase: publicPhase,
    amount: baseUnits,
    issuedAt: seconds,
    expiresAt: seconds,
    transaction: txHash.optional(),
    acceptedAt: seconds.optional(),
  }),
)

export type PaymentApiDeps = {
  readonly profile: Profile
  readonly ledger: Pick<Ledger, 'presented'>
  readonly admission: Pick<Admission, 'request' | 'issue' | 'present' | 'aside'>
  readonly underWay: Pick<UnderWay, 'refusalOf' | 'settle'>
  readonly chainId: number
  readonly issueChallenge: IssueChallenge
  readonly verify: Verify
  readonly settle: Settle
  readonly status: Status
  readonly onGrantFailure: (err: unknown) => void
}

const route = routesOf<PaymentApiDeps>({ tag: 'payment' })
const paymentRoute = routesOf<PaymentApiDeps>({
  tag: 'payment',
  countUnread: async (request, { admission }) => admission.request(request),
})
const statusRoute = routesOf<PaymentApiDeps>({
  tag: 'payment',
  enter: async (request, { admission }) => admission.aside(request, 'status'),
})

/** Who may present a payment: profile, then form, then rate. */
async function admit(
  request: FastifyRequest,
  parse: (body: unknown) => Result<FacilitatorApi.PresentedPayment>,
  { profile, ledger, admission }: PaymentApiDeps,
) {
  if (!profile.acceptsPayments) return reject('profile_unsupported')
  const presented = parse(request.body)
  if (!presented.ok) return admission.request(request) ?? presented
  const known = await ledger.presented(presented.value.payload)
  return admission.present(request, known.payment) ?? { ...presented, known }
}

export const paymentRoutes = [
  route({
    method: 'GET',
    path: '/supported',
    summary: 'Which scheme and network are served',
    answer: supported,
    needsLedger: () => false,
    handle: async (_asked, { chainId }) => ({
      kinds: [{ x402Version: Offer.x402Version, scheme: Offer.scheme, network: Network.format(chainId) }],
      extensions: [],
      signers: {},
    }),
  }),

  paymentRoute({
    method: 'POST',
    path: '/challenge',
    summary: 'A fresh one-time offer',
    body: challengeRequest,
    isWire: true,
    answer: challengeOffer,
    refusals: [403, 429, 503],
    needsLedger: ({ profile }) => profile.acceptsPayments,
    async handle({ request }, { profile, admission, underWay, issueChallenge }) {
      if (!profile.acceptsPayments) {
        const message = `payment acceptance is disabled for the profile "${profile.name}"`
        return reject('acceptance_disabled', message)
      }
      const overloaded = underWay.refusalOf('challenge')
      if (overloaded) return overloaded
      const caller = admission.issue(request)
      if (!caller.ok) return caller
      if (!Json.isObject(request.body)) return reject('malformed_request')
      const listPrice = parseAmount(request.body.amount)
      if (listPrice === undefined) return reject('invalid_amount')
      const gone = await hangUpOf(request)
      const offer = await issueChallenge(listPrice, { seller: sellerIn(caller.value), gone })
      return offer.ok ? offer.value : offer
    },
  }),

  paymentRoute({
    method: 'POST',
    path: '/verify',
    summary: 'Would this payment be accepted now? Changes nothing',
    body: paymentRequest,
    isWire: true,
    answer: verifyResponse,
    refusal: verifyResponse,
    refusals: [429, 503],
    needsLedger: ({ profile }) => profile.acceptsPayments,
    async handle({ request, reply }, deps) {
      const presented = await admit(request, FacilitatorApi.parsePaymentRequest, deps)
      if (!presented.ok) return presented
      const { value, known } = presented
      const overloaded = known.payment?.claim ? undefined : deps.underWay.refusalOf('verify')
      if (overloaded) return overloaded
      const judged = await deps.verify(value, known)
      return withStatus(reply, judged.invalidReason).send(judged)
    },
  }),

  paymentRoute({
    method: 'POST',
    path: '/settle',
    summary: 'Accept this payment',
    body: settleRequest,
    isWire: true,
    answer: settleResponse,
    refusal: settleResponse,
    refusals: [429, 503],
    needsLedger: ({ profile }) => profile.acceptsPayments,
    async handle({ request, reply }, deps) {
      const presented = await admit(request, FacilitatorApi.parseSettleRequest, deps)
      if (!presented.ok) return presented
      const { value, known } = presented
      const work = () => deps.settle(value, known)
      // The payment of a claimed challenge is under way already.
      const settled = known.payment?.claim ? accept(await work()) : await deps.underWay.settle(work)
      if (!settled.ok) return settled
      const { response, grant } = settled.value
      if (grant?.isHeld() === false) {
        // This daemon was stopped meanwhile, and another may answer by now.
        await grant.giveBack()
        return reject('pending_burn')
      }
      if (grant) useGrantOnceWritten(request, reply, grant, deps.onGrantFailure)
      return withStatus(reply, response.errorReason).send(response)
    },
  }),

  statusRoute({
    method: 'GET',
    path: '/payments/{challengeNonce}',
    summary: 'Where one payment stands',
    answer: paymentStatus,
    refusals: [429],
    handle: async ({ nonce }, { status }) => (await status(nonce)) ?? noSuchPayment,
  }),
]
