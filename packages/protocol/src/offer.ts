/** PaymentRequirements of this scheme, and the rule by which an echoed offer matches. */
import { z } from 'zod'
import { parseAddress, parseAmount, parseBaseUnits, parseChallengeNonce, parseUnixSeconds } from './brand.js'
import { deepEqual, isObject, isSubset, type JsonObject } from './json.js'
import { format, parseChainId } from './network.js'
import { accept, type Result, reject } from './reasons.js'

export const scheme = 'svc-zerc20'
export const x402Version = 2

export const addressSchema = z
  .string()
  .refine((text) => parseAddress(text) !== undefined, 'not a 20-byte address')
export const amountSchema = z
  .string()
  .refine((text) => parseAmount(text) !== undefined, 'not an amount in base units')
const seconds = z.number().refine((value) => parseUnixSeconds(value) !== undefined, 'not unix seconds')

/** The fee, already included in the offer's amount. Present only when the payer is charged. */
export const feeSchema = z.looseObject({
  amount: z.string().refine((text) => parseBaseUnits(text) !== undefined, 'not a decimal integer'),
  bps: z.number().int().nonnegative(),
})

export const extraSchema = z.looseObject({
  challengeNonce: z.string().refine((text) => parseChallengeNonce(text) !== undefined, 'not 32 bytes of hex'),
  expiresAt: seconds,
  helper: addressSchema.optional(),
  deadline: seconds.optional(),
  fee: feeSchema.optional(),
  /** A secret of the offer that is never on chain. A claim made with it is answered only to callers that know it. */
  ticket: z.string().optional(),
})

export const requirementsSchema = z.looseObject({
  scheme: z.literal(scheme),
  network: z.string().refine((text) => parseChainId(text) !== undefined, 'not eip155:<chainId>'),
  asset: addressSchema,
  amount: amountSchema,
  payTo: addressSchema,
  maxTimeoutSeconds: z.number().nonnegative(),
  extra: extraSchema,
})

/** Answer of `POST /challenge`, checked as strictly as the offer that is made from it. */
export const challengeOfferSchema = z.looseObject({
  payTo: addressSchema,
  amount: amountSchema,
  token: addressSchema,
  chainId: z.number().int().positive(),
  ...extraSchema.shape,
})
export type ChallengeOffer = z.infer<typeof challengeOfferSchema>

export type SvcExtra = z.infer<typeof extraSchema>
/** One entry of a 402's `accepts` as it is on the wire, unknown fields included. */
export type PaymentRequirements = z.infer<typeof requirementsSchema>

/** Checks the form of an offer and returns the same object: parsing never rewrites what came over the wire. */
export function parse(raw: unknown): Result<PaymentRequirements> {
  const result = requirementsSchema.safeParse(raw)
  if (result.success) return accept(raw as PaymentRequirements)
  const issue = result.error.issues[0]
  const path = ['offer', ...(issue?.path ?? [])].join('.')
  return reject('malformed_request', `${path}: ${issue?.message ?? 'malformed'}`)
}

/** The requirements a resource server offers for a challenge it was issued. */
export function fromChallenge(challenge: ChallengeOffer, nowSeconds: number): PaymentRequirements {
  const { payTo, amount, token, chainId, challengeNonce, expiresAt, helper, deadline, fee, ticket } =
    challenge
  return {
    scheme,
    network: format(chainId),
    asset: token,
    amount,
    payTo,
    maxTimeoutSeconds: Math.max(1, expiresAt - Math.floor(nowSeconds)),
    extra: {
      challengeNonce,
      expiresAt,
      ...(helper !== undefined && { helper }),
      ...(deadline !== undefined && { deadline }),
      ...(fee !== undefined && { fee }),
      ...(ticket !== undefined && { ticket }),
    },
  }
}

/**
 * The matching rule for `accepted`: every field but `extra` deep-equal, unknown ones included, and the
 * seller's own `extra` contained in the echoed one. A dropped or rewritten field fails the match.
 */
export function matches(echoed: unknown, own: JsonObject): boolean {
  if (!isObject(echoed)) return false
  const { extra: echoedExtra, ...echoedCore } = echoed
  const { extra: ownExtra, ...ownCore } = own
  return deepEqual(echoedCore, ownCore) && (ownExtra === undefined || isSubset(ownExtra, echoedExtra))
}
