/** PaymentRequirements of this scheme, and the rule by which an echoed offer matches. */
import { parseAddress, parseAmount, parseBaseUnits, parseChallengeNonce, parseUnixSeconds } from './brand.js'
import { areDecimals, type TokenLabel } from './decimal-amount.js'
import { type Form, form, objectOf, optional } from './form.js'
import { deepEqual, isObject, isSubset, type JsonObject } from './json.js'
import { format, parseChainId } from './network.js'
import { accept, type Result, reject } from './reasons.js'

export const scheme = 'svc-zerc20' as const
export const x402Version = 2 as const

type Loose = { readonly [key: string]: unknown }

/** The fee, already included in the offer's amount. Present only when the payer is charged. */
export type Fee = Loose & { readonly amount: string; readonly bps: number }

export type SvcExtra = Loose & {
  readonly challengeNonce: string
  readonly expiresAt: number
  readonly helper?: string | undefined
  readonly deadline?: number | undefined
  readonly fee?: Fee | undefined
  /** A secret of the offer that is never on chain. A claim made with it is answered only to callers that know it. */
  readonly ticket?: string | undefined
}

/** One entry of a 402's `accepts` as it is on the wire, unknown fields included. */
export type PaymentRequirements = Loose & {
  readonly scheme: typeof scheme
  readonly network: string
  readonly asset: string
  readonly amount: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: SvcExtra
}

/** Answer of `POST /challenge`. */
export type ChallengeOffer = SvcExtra & {
  readonly payTo: string
  readonly amount: string
  readonly token: string
  readonly chainId: number
  /** What the token says of itself, for prices that people read. Absent when it does not tell; no part of the offer. */
  readonly tokenLabel?: TokenLabel | undefined
}

const address = form('not a 20-byte address', (value) => parseAddress(value) !== undefined)
const amount = form('not an amount in base units', (value) => parseAmount(value) !== undefined)
const seconds = form('not unix seconds', (value) => parseUnixSeconds(value) !== undefined)

const extraFields = {
  challengeNonce: form('not 32 bytes of hex', (value) => parseChallengeNonce(value) !== undefined),
  expiresAt: seconds,
  helper: optional(address),
  deadline: optional(seconds),
  fee: optional(
    objectOf({
      amount: form('not a decimal integer', (value) => parseBaseUnits(value) !== undefined),
      bps: form(
        'not a whole number of basis points',
        (value) => Number.isSafeInteger(value) && Number(value) >= 0,
      ),
    }),
  ),
  ticket: optional(form('not a string', (value) => typeof value === 'string')),
}

/** The names of the scheme's own fields in `extra`. */
export const extraKeys: readonly string[] = Object.keys(extraFields)

const requirementsForm = objectOf({
  scheme: form(`not ${scheme}`, (value) => value === scheme),
  network: form(
    'not eip155:<chainId>',
    (value) => typeof value === 'string' && parseChainId(value) !== undefined,
  ),
  asset: address,
  amount,
  payTo: address,
  maxTimeoutSeconds: form('not a number of seconds', (value) => Number.isFinite(value) && Number(value) >= 0),
  extra: objectOf(extraFields),
})

const challengeForm = objectOf({
  payTo: address,
  amount,
  token: address,
  chainId: form('not a chain id', (value) => Number.isSafeInteger(value) && Number(value) > 0),
  ...extraFields,
  tokenLabel: optional(
    objectOf({
      symbol: form('not a string', (value) => typeof value === 'string'),
      decimals: form('not a number of decimals', areDecimals),
    }),
  ),
})

/** Checks the form of an offer and returns the same object: parsing never rewrites what came over the wire. */
export const parse = (raw: unknown): Result<PaymentRequirements> => checked('offer', requirementsForm, raw)

/** Checks an answer of `POST /challenge` as strictly as the offer that is made from it, and returns the same object. */
export const parseChallenge = (raw: unknown): Result<ChallengeOffer> =>
  checked('challenge', challengeForm, raw)

function checked<T>(name: string, wanted: Form, raw: unknown): Result<T> {
  const fault = wanted(raw)
  if (fault === undefined) return accept(raw as T)
  return reject('malformed_request', `${[name, ...fault.path].join('.')}: ${fault.message}`)
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
