/**
 * The contents of a statement: never more than the participant may see, because statements are made of what `scopes.ts` shows.
 */

import { type Address, Network, type UnixSeconds } from '@svc-zerc20/protocol'
import type { StatementContent } from '@svc-zerc20/statement'
import { toldFinalityAt } from '../payment.js'
import {
  dayOf,
  finalityToldBefore,
  type SeenBurn,
  type SeenMint,
  type SeenPayment,
  type SeenTotals,
  type Sight,
} from '../scopes.js'

/** The token of all payments here. */
export type Money = { readonly chainId: number; readonly token: Address }

const moneyOf = ({ chainId, token }: Money) => ({ network: Network.format(chainId), token })

type Claim = string | number | bigint | undefined

/** Claims without a value are left out. Large numbers are decimal strings. */
const present = <Name extends string>(claims: Readonly<Record<Name, Claim>>) =>
  Object.fromEntries(
    Object.entries<Claim>(claims).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'bigint' ? `${value}` : value]],
    ),
  ) as Partial<Record<Name, string | number>>

/**
 * Undefined while nothing was burned for the payment. Nonces of gasless burns are public, so a caller with only a nonce gets
 * no statement that it paid.
 */
export function paymentStatement(
  { role, scope }: Sight,
  seen: SeenPayment,
  money: Money,
): StatementContent<'payment'> | undefined {
  const { accepted, late, finalized } = seen
  const paid = accepted ?? late
  if (paid === undefined) return undefined
  return {
    kind: 'payment',
    open: { ...moneyOf(money), role: scope ? role : 'bearer', outcome: accepted ? 'accepted' : 'late' },
    hidden: present({
      challengeNonce: seen.challengeNonce,
      issuedAt: seen.issuedAt,
      amount: seen.amount,
      value: paid.value,
      acceptedAt: accepted?.at,
      lateAt: late?.at,
      lateReason: late?.reason,
      burnTransaction: paid.burn?.txHash,
      leafIndex: paid.burn?.leafIndex,
      payer: seen.payer,
      finalizedOn: finalized?.on,
      listPrice: seen.listPrice,
      fee: seen.fee?.amount,
      treasury: seen.treasury,
      mintTransaction: finalized?.mint?.txHash,
      minted: finalized?.mint?.value,
      finalizedAt: finalized?.at,
    }),
  }
}

export type Period = { readonly since: number; readonly until: number }

export function totalStatement(
  { role, scope }: Sight,
  totals: SeenTotals,
  { since, until }: Period,
  money: Money,
): StatementContent<'total'> {
  const { accepted, late, fees, finalized } = totals
  return {
    kind: 'total',
    open: { ...moneyOf(money), role, since, until },
    hidden: present({
      accepted: accepted.amount,
      acceptedPayments: accepted.payments,
      late: late.amount,
      latePayments: late.payments,
      fees: fees?.amount,
      finalized: finalized?.amount,
      finalizedPayments: finalized?.payments,
      payer: scope?.kind === 'payer' ? scope.payer : undefined,
      treasury: scope?.kind === 'treasury' ? scope.treasury : undefined,
    }),
  }
}

/**
 * The finality receipt names the burn and the day, never the mint or whom it went to. Nobody gets one before that day is over,
 * not even the provider: a receipt is made to be passed on, and its own time would tell the minute.
 */
export function finalityStatement(
  seen: SeenPayment,
  money: Money,
  now: UnixSeconds,
): StatementContent<'finality'> | 'nothing_to_state' | 'finality_not_told' | 'burn_not_disclosed' {
  const { accepted, late, finalized } = seen
  const paid = accepted ?? late
  if (paid === undefined) return 'nothing_to_state'
  // Also for those who see no burn: whether it is minted is told by day, whoever asks.
  const on = finalized && dayToldOf(paid, finalized)
  if (on === undefined || Date.parse(on) / 1_000 >= finalityToldBefore(now)) return 'finality_not_told'
  if (paid.burn === undefined) return 'burn_not_disclosed'
  const { txHash, leafIndex } = paid.burn
  return {
    kind: 'finality',
    open: moneyOf(money),
    hidden: present({
      burnTransaction: txHash,
      leafIndex,
      value: paid.value,
      finalizedOn: on,
    }),
  }
}

/** The same day to both participants: the provider, who knows the second, passes on no more than the payer is told. */
const dayToldOf = (burn: SeenBurn, { on, at }: SeenMint): string =>
  at === undefined ? on : dayOf(toldFinalityAt(burn.at, at))
