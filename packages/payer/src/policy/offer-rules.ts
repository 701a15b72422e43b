/** Rules for one offer alone, whatever was spent before. */
import { type Address, Network } from '@svc-zerc20/protocol'
import type { PayableOffer, PermitOffer } from '../offer.js'
import { PayerError } from '../payer-error.js'
import { assertPasses, type Verdict } from '../verdict.js'
import { allowsUrl, describeHosts, hostOf } from './hosts.js'
import type { Policy } from './policy.js'
import type { Bounds } from './purchase.js'

/** Whether requests may leave for a URL. */
export function judgeHost({ allowedHosts: hosts }: Pick<Policy, 'allowedHosts'>, url: string): Verdict {
  const host = hostOf(url)
  return {
    rule: 'host',
    passes: allowsUrl(hosts, url) ? 'yes' : 'no',
    limit: describeHosts(hosts),
    asked: host ? `${host.hostname}:${host.port}` : 'a URL that is no plain http or https address',
    code: 'host_refused',
  }
}

type Pins = Pick<Policy, 'network' | 'allowedTokens' | 'maxAmountPerPayment'>

/** Network, token, amount and time of an offer, in the order in which they are refused. */
export function judgeOffer(
  offer: PayableOffer,
  pins: Pins,
  nowSeconds: number,
  offerSecondsMax: number,
): Verdict[] {
  const { chainId, token, amount, expiresAt } = offer
  const { network, allowedTokens, maxAmountPerPayment } = pins
  const asked = Network.format(chainId)
  const isLate = expiresAt <= nowSeconds
  const isEndless = expiresAt > nowSeconds + offerSecondsMax
  return [
    { rule: 'network', passes: yesIf(asked === network), limit: network, asked, code: 'offer_network' },
    {
      rule: 'token',
      passes: yesIf(!allowedTokens || allowedTokens.includes(token)),
      limit: listOf(allowedTokens),
      asked: token,
      code: 'offer_token',
    },
    {
      rule: 'per-payment',
      passes: yesIf(maxAmountPerPayment === undefined || amount <= maxAmountPerPayment),
      limit: maxAmountPerPayment === undefined ? 'unlimited' : `${maxAmountPerPayment} base units`,
      asked: `${amount}`,
      code: 'offer_amount',
    },
    {
      rule: 'expiry',
      passes: yesIf(!isLate && !isEndless),
      limit: isLate
        ? `expiresAt after now, ${nowSeconds}`
        : `expiresAt at most ${offerSecondsMax} s from now`,
      asked: isEndless ? `the offer expires only at ${expiresAt}` : `expiresAt is ${expiresAt}`,
      code: isLate ? 'offer_expired' : 'offer_deadline',
    },
  ]
}

/** Rules for a signature that somebody else will use: its helper and its deadline. */
export function judgePermit(
  { helper, deadline }: PayableOffer,
  { allowedHelpers }: Pick<Policy, 'allowedHelpers'>,
  nowSeconds: number,
  signatureSecondsMax: number,
): Verdict[] {
  const ahead = deadline === undefined ? undefined : deadline - nowSeconds
  return [
    {
      rule: 'helper',
      passes: yesIf(helper !== undefined && (!allowedHelpers || allowedHelpers.includes(helper))),
      limit: allowedHelpers ? listOf(allowedHelpers) : 'a contract with the code of our burner',
      asked: helper ?? 'no helper',
      code: helper === undefined ? 'permit_not_offered' : 'offer_helper',
    },
    {
      rule: 'deadline',
      passes: yesIf(ahead !== undefined && ahead > 0 && ahead <= signatureSecondsMax),
      limit: `1 to ${signatureSecondsMax} s from now`,
      asked: ahead === undefined ? 'no deadline' : `${ahead} s from now`,
      code: 'offer_deadline',
    },
  ]
}

/** The limits of one request: a lower cap, a price that was told, or that nothing is signed. */
export function judgeBounds(
  { token, amount }: PayableOffer,
  { max, asQuoted, isOnlyStored = false }: Bounds,
): Verdict[] {
  const quoted = asQuoted === 'nothing' ? undefined : asQuoted
  const isAsQuoted = quoted !== undefined && token === quoted.token && amount <= quoted.amount
  const verdicts: (Verdict | false)[] = [
    max !== undefined && {
      rule: 'per-payment',
      passes: yesIf(amount <= max),
      limit: `${max} base units for this payment`,
      asked: `${amount}`,
      code: 'offer_amount',
      todo: 'Raise --max (max in code), if it is worth that to you.',
    },
    asQuoted !== undefined && {
      rule: 'quoted',
      passes: yesIf(isAsQuoted),
      limit: quoted ? `${quoted.amount} of ${quoted.token}, as it was quoted` : 'nothing, as it was quoted',
      asked: `${amount} of ${token}`,
      code: 'offer_changed',
    },
    isOnlyStored && {
      rule: 'resume',
      passes: 'no',
      limit: 'what was signed before',
      asked: 'a new signature',
      code: 'not_signed',
    },
  ]
  return verdicts.filter((verdict) => verdict !== false)
}

/** Whether a human must be asked, for the amount or for a price rise. Each has its own limit. */
export function judgeApproval(
  { approveAbove, priceRisePercent }: Pick<Policy, 'approveAbove' | 'priceRisePercent'>,
  amount: bigint,
  priceBefore: bigint | undefined,
): Verdict[] {
  const highest =
    priceBefore === undefined || priceRisePercent === undefined
      ? undefined
      : (priceBefore * BigInt(100 + priceRisePercent)) / 100n
  const isRisen = highest !== undefined && amount > highest
  return [
    {
      rule: 'approval',
      passes: approveAbove !== undefined && amount > approveAbove ? 'ask' : 'yes',
      limit: approveAbove === undefined ? 'nobody is asked' : `${approveAbove} without approval`,
      asked: `${amount}`,
      code: 'not_approved',
    },
    {
      rule: 'price',
      passes: isRisen ? 'ask' : 'yes',
      limit:
        priceRisePercent === undefined
          ? 'nobody is asked'
          : highest === undefined
            ? 'no price known'
            : `${highest}, ${priceRisePercent} % above ${priceBefore}`,
      asked: isRisen ? `${amount}, which is noticeably more` : `${amount}`,
      code: 'not_approved',
    },
  ]
}

const yesIf = (holds: boolean) => (holds ? 'yes' : 'no')
const listOf = (addresses: readonly Address[] | undefined) => addresses?.join(',') ?? 'any'

/** Narrows an offer to the permit path. `helper-trust.ts` decides whether its helper can be trusted. */
export function checkPermitOffer(
  offer: PayableOffer,
  nowSeconds: number,
  signatureSecondsMax: number,
): PermitOffer {
  const { helper, deadline } = offer
  assertPasses(judgePermit(offer, { allowedHelpers: undefined }, nowSeconds, signatureSecondsMax))
  if (helper === undefined || deadline === undefined) throw new PayerError('permit_not_offered', 'no helper')
  return { ...offer, helper, deadline }
}
