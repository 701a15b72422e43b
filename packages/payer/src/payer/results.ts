/** Quotes, payments and limits as plain data, the same for programs and for agents. */
import { type ChallengeNonce, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { describeHosts } from '../policy/hosts.js'
import type { Policy } from '../policy/policy.js'
import type { AuditRecord } from '../state/audit-log.js'
import type { BurnState } from '../state/burn-verdict.js'
import { capsOf, leftOf } from '../state/capped-totals.js'
import { type SpendState, usedOf } from '../state/spend-state.js'
import type { AssembledPayer } from './assemble-payer.js'
import type { Quote } from './quote.js'

export async function quoteResult(payer: AssembledPayer, quoted: Quote) {
  const { url, method, status, otherSchemes, description } = quoted
  const offers = await Promise.all(
    quoted.offers.map(async ({ offer, fee, verdicts, isAllowed }) => ({
      challengeNonce: offer.challengeNonce,
      network: `eip155:${offer.chainId}`,
      token: offer.token,
      amount: `${offer.amount}`,
      tokens: await payer.chain.inTokens(offer.token, offer.amount),
      fee,
      payTo: offer.payTo,
      helper: offer.helper,
      expiresAt: offer.expiresAt,
      isAllowed,
      rules: verdicts,
    })),
  )
  return { url, method, status, offers, otherSchemes, sellerSays: description }
}

/**
 * The limits, and what counts against them. `left` is beneath every cap, today's included, at a host where nothing was
 * spent; `hosts` tells the others where there is a cap for each. Amounts are base units, and beside them what they are in
 * tokens, where the token tells.
 */
export async function limitsResult(payer: AssembledPayer) {
  const { policy } = payer
  const state = await payer.state.totals.state()
  const caps = capsOf(policy)
  const pairs = new Set([
    ...(policy.allowedTokens ?? []).map((token) => `${policy.network}/${token}`),
    ...Object.keys(state.totals),
    ...Object.values(state.reservations).map(({ pair }) => pair),
  ])
  const now = payer.scheme.clock.now()
  const used = [...pairs].map(async (pair) => {
    const counted = usedOf(state, pair, { host: '', addresses: [] }, now)
    const { total, reserved, day } = counted
    const hosts = policy.maxPerHost === undefined ? [] : hostsOf(state, pair)
    const leftAt = (host: string) => leftOf(caps, usedOf(state, pair, { host, addresses: [] }, now)) ?? 0n
    const amounts = { spent: total - reserved, reserved, lastDay: day, left: leftOf(caps, counted) }
    return {
      pair,
      ...texts(amounts),
      tokens: await inTokensOf(payer, pair, amounts),
      ...(hosts.length > 0 && { hosts: Object.fromEntries(hosts.map((host) => [host, `${leftAt(host)}`])) }),
    }
  })
  const [token, ...others] = policy.allowedTokens ?? []
  const { maxAmountPerPayment, maxTotal, maxPerHost, maxPerDay, approveAbove } = policy
  const limits = { maxAmountPerPayment, maxTotal, maxPerHost, maxPerDay, approveAbove }
  return {
    policy: policyTexts(policy),
    ...(token &&
      others.length === 0 && { tokens: await inTokensOf(payer, `${policy.network}/${token}`, limits) }),
    used: await Promise.all(used),
  }
}

type AmountsOf<Name extends string> = Readonly<Record<Name, bigint | undefined>>

const texts = <Name extends string>(amounts: AmountsOf<Name>) =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, `${amount ?? 'unlimited'}`]),
  ) as Record<Name, string>

/** Amounts in tokens, as `1.5 USDC`. Undefined when the token does not tell. */
export async function inTokensOf<Name extends string>(
  { chain: { inTokens }, policy }: AssembledPayer,
  pair: string,
  amounts: AmountsOf<Name>,
): Promise<Partial<Record<Name, string>> | undefined> {
  const [network, name] = pair.split('/')
  const token = parseAddress(name)
  if (network !== policy.network || token === undefined) return undefined
  if ((await inTokens(token, 1n)) === undefined) return undefined
  const known = Object.entries(amounts).filter((entry): entry is [Name, bigint] => entry[1] !== undefined)
  const labels = known.map(async ([key, amount]) => [key, (await inTokens(token, amount)) ?? ''] as const)
  return Object.fromEntries(await Promise.all(labels)) as Partial<Record<Name, string>>
}

/** Hosts with payments or reservations in a network and token. */
const hostsOf = ({ hosts, reservations }: SpendState, pair: string): string[] => [
  ...new Set([
    ...Object.keys(hosts)
      .filter((key) => key.startsWith(`${pair} `))
      .map((key) => key.slice(pair.length + 1)),
    ...Object.values(reservations)
      .filter((each) => each.pair === pair)
      .map(({ host }) => host),
  ]),
]

const policyTexts = (policy: Policy) => ({
  hosts: describeHosts(policy.allowedHosts),
  network: policy.network,
  tokens: policy.allowedTokens?.join(',') ?? 'any',
  helpers: policy.allowedHelpers?.join(',') ?? 'with the code of our burner',
  'per payment': `${policy.maxAmountPerPayment ?? 'unlimited'}`,
  total: `${policy.maxTotal ?? 'unlimited'}`,
  'per host': `${policy.maxPerHost ?? 'unlimited'}`,
  'per day': `${policy.maxPerDay ?? 'unlimited'}`,
  'gas per payment': `${policy.maxGasWei} wei`,
  'approval above': `${policy.approveAbove ?? 'nobody is asked'}`,
  'price rise': policy.priceRisePercent === undefined ? 'nobody is asked' : `${policy.priceRisePercent} %`,
})

export type PaymentStatus = {
  readonly challengeNonce: ChallengeNonce
  readonly delivery?: string | undefined
  readonly request?: string | undefined
  readonly transaction?: unknown
  readonly reservation?:
    | { readonly amount: string; readonly expiresAt: number; readonly burn: BurnState }
    | undefined
  readonly events: readonly AuditRecord[]
}

/**
 * One payment, as the payer's store, its log and the chain know it. Throws `unknown_payment` when store and
 * log know nothing of it.
 */
export async function statusResult(
  { state, chain }: AssembledPayer,
  nonce: ChallengeNonce,
): Promise<PaymentStatus> {
  const record = await state.memory.get(nonce)
  const isOver = record === undefined && (await state.memory.isOver(nonce))
  const reservation = await state.totals.reservation(nonce)
  const events = (await state.audit.read()).records.filter(({ challengeNonce }) => challengeNonce === nonce)
  if (!record && !isOver && !reservation && events.length === 0) {
    throw new SvcError('unknown_payment', `challenge ${nonce}: this payer knows nothing of it`)
  }
  return {
    challengeNonce: nonce,
    delivery: record?.delivery ?? (isOver ? 'over' : undefined),
    request: record?.request,
    transaction: record?.burn?.hash ?? events.map(({ transaction }) => transaction).find(Boolean),
    reservation: reservation && {
      amount: reservation.amount,
      expiresAt: reservation.expiresAt,
      burn: await chain.burnState(nonce, reservation, record?.burn),
    },
    events,
  }
}
