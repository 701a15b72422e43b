/**
 * The bodies of the public endpoints, named as in the OpenAPI document. Bodies that the wire protocol defines are read by
 * the parsers of `@svc-zerc20/protocol`, which also know the order of reasons; a test holds those and these together.
 */
import { Offer } from '@svc-zerc20/protocol'
import { z } from 'zod'
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
  txHash,
} from '../schema-parts.js'

export const supported = named(
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

export const challengeRequest = named(
  'ChallengeRequest',
  'The list price in base units, from 1 to 2^248 - 1.',
  z.looseObject({ amount: z.string().regex(/^[1-9][0-9]{0,74}$/) }),
)

export const challengeOffer = named(
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

export const paymentRequest = named(
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

export const settleRequest = named(
  'SettleRequest',
  'The official shape, or one of the two direct bodies that older integrations send.',
  z.union([paymentRequest, permitPayload.and(directBody), selfTransferPayload.and(directBody)]),
)

export const verifyResponse = named(
  'VerifyResponse',
  'Would this payment be accepted now? Promises nothing.',
  z.looseObject({
    isValid: z.boolean(),
    invalidReason: reason.optional(),
    invalidMessage: z.string().optional(),
    payer: address.optional(),
  }),
)

export const settleResponse = named(
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

export const paymentStatus = named(
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

export const health = named('Health', 'The process answers.', z.looseObject({ status: z.literal('live') }))

export const readinessProblems = z.array(
  z.looseObject({
    part: z.enum(['chain', 'clock', 'relayer', 'addresses', 'journal', 'history']),
    problem: z.string(),
  }),
)

export const readiness = named(
  'Readiness',
  'Whether payments can be taken, and if not, all that stands in the way.',
  z.looseObject({ ready: z.boolean(), problems: readinessProblems }),
)
