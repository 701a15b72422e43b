/** Quotes, payments and limits as plain data, the same for programs and for agents. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { describeHosts } from '../policy/hosts.js'
import type { Policy } from '../policy/policy.js'
import { type AuditRecord, readAudit } from '../store/read-audit.js'
import type { BurnState } from '../totals/burn-state.js'
import { usedOf } from '../totals/spend-state.js'
import type { AssembledPayer } from './assemble-payer.js'
import type { Payment } from './pay.js'
import type { Quote } from './quote.js'

export async function quoteResult(payer: AssembledPayer, quoted: Quote) {
  const { url, method, status, otherSchemes, description } = quoted
  const offers = await Promise.all(
    quoted.offers.map(async ({ offer, fee, verdicts, isAllowed }) => ({
      challengeNonce: offer.challengeNonce,
      network: `eip155:${offer.chainId}`,
      token: offer.token,
      amount: `${offer.amount}`,
      tokens: await payer.inTokens(offer.token, offer.amount),
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

export const paymentResult = ({
  challengeNonce,
  network,
  token,
  amount,
  fee,
  transaction,
  isResumed,
}: Payment) => ({
  ...{ challengeNonce, network, token, amount, fee, transaction, isResumed },
})

/** The limits, and what counts against them. */
export async function limitsResult(payer: AssembledPayer) {
  const { policy, totals } = payer
  const state = await totals.state()
  const pairs = new Set([
    ...Object.keys(state.totals),
    ...Object.values(state.reservations).map(({ pair }) => pair),
  ])
  const used = [...pairs].map((pair) => {
    const { total, reserved, day } = usedOf(state, pair, '', payer.scheme.clock.now())
    const left = policy.maxTotal === undefined ? 'unlimited' : `${policy.maxTotal - total}`
    return { pair, spent: `${total - reserved}`, reserved: `${reserved}`, lastDay: `${day}`, left }
  })
  return { policy: Object.fromEntries(policyRows(policy)), used }
}

function policyRows(policy: Policy): [string, string][] {
  const cap = (value: bigint | undefined) => (value === undefined ? 'unlimited' : `${value}`)
  return [
    ['hosts', describeHosts(policy.hosts)],
    ['network', policy.network],
    ['tokens', policy.allowedTokens?.join(',') ?? 'any'],
    ['helpers', policy.allowedHelpers?.join(',') ?? 'with the code of our burner'],
    ['per payment', cap(policy.maxAmountPerPayment)],
    ['total', cap(policy.maxTotal)],
    ['per host', cap(policy.maxPerHost)],
    ['per day', cap(policy.maxPerDay)],
    ['gas per payment', `${policy.maxGasWei} wei`],
    ['approval above', policy.approveAbove === undefined ? 'nobody is asked' : `${policy.approveAbove}`],
    [
      'price rise',
      policy.priceRisePercent === undefined ? 'nobody is asked' : `${policy.priceRisePercent} %`,
    ],
  ]
}

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
  payer: AssembledPayer,
  nonce: ChallengeNonce,
  folder: string,
): Promise<PaymentStatus> {
  const record = await payer.state?.memory.get(nonce)
  const reservation = await payer.totals.reservation(nonce)
  const events = (await readAudit(folder)).records.filter(({ challengeNonce }) => challengeNonce === nonce)
  if (!record && !reservation && events.length === 0) {
    throw new SvcError('unknown_payment', `challenge ${nonce}: this payer knows nothing of it`)
  }
  return {
    challengeNonce: nonce,
    delivery: record?.delivery,
    request: record?.request,
    transaction: record?.burn?.hash ?? events.map(({ transaction }) => transaction).find(Boolean),
    reservation: reservation && {
      amount: reservation.amount,
      expiresAt: reservation.expiresAt,
      burn: await payer.chain.burnState(nonce, reservation, record?.burn),
    },
    events,
  }
}
