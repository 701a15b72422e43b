/**
 * The kinds of statements, and their claims. Open claims are always told, because the others mean nothing without them.
 * Every other claim is hidden behind its own digest, and its holder chooses which of them a verifier sees.
 */
import {
  type Form,
  isAddress,
  isDay,
  isHash,
  isNetwork,
  isOneOf,
  isSeconds,
  isUnits,
  isWhole,
} from './forms.js'

type Kind = {
  /** The type of the credential. The number counts its versions. */
  readonly vct: string
  readonly says: string
  readonly open: Readonly<Record<string, Form>>
  readonly hidden: Readonly<Record<string, Form>>
  /** Every statement of a kind has this many digests, so that their number does not tell which claims exist. */
  readonly digests: number
}

const whatMoney = { network: isNetwork, token: isAddress }
/**
 * Whose view it is: a payer's statement says less of the mint, a provider's less of the burn. A bearer presented the nonce of a
 * payment, and has not shown that the payment is its own.
 */
const viewers = ['payer', 'provider'] as const

export const statementKinds = {
  payment: {
    vct: 'urn:svc-zerc20:payment:1',
    says: 'the payment of one challenge, as its facilitator recorded it',
    // Money that came too late bought nothing, and must not be shown as if it had.
    open: { ...whatMoney, role: isOneOf(...viewers, 'bearer'), outcome: isOneOf('accepted', 'late') },
    hidden: {
      challengeNonce: isHash,
      issuedAt: isSeconds,
      /** What was asked for, and what came. */
      amount: isUnits,
      value: isUnits,
      acceptedAt: isSeconds,
      lateAt: isSeconds,
      lateReason: isOneOf('late', 'unpresented', 'split', 'underpaid', 'unrecorded'),
      burnTransaction: isHash,
      leafIndex: isUnits,
      payer: isAddress,
      finalizedOn: isDay,
      listPrice: isUnits,
      fee: isUnits,
      treasury: isAddress,
      mintTransaction: isHash,
      minted: isUnits,
      finalizedAt: isSeconds,
    },
    digests: 18,
  },
  total: {
    vct: 'urn:svc-zerc20:total:1',
    says: 'the sum of all payments of one participant in a period, by the time of their burns',
    // A sum without its period could be shown as the sum of any other.
    open: { ...whatMoney, role: isOneOf(...viewers), since: isSeconds, until: isSeconds },
    hidden: {
      accepted: isUnits,
      acceptedPayments: isWhole,
      late: isUnits,
      latePayments: isWhole,
      fees: isUnits,
      finalized: isUnits,
      finalizedPayments: isWhole,
      payer: isAddress,
      treasury: isAddress,
    },
    digests: 10,
  },
  finality: {
    vct: 'urn:svc-zerc20:finality:1',
    says: 'the value of one burn was minted to its recipient, who is not named',
    open: whatMoney,
    hidden: { burnTransaction: isHash, leafIndex: isUnits, value: isUnits, finalizedOn: isDay },
    digests: 6,
  },
} as const satisfies Record<string, Kind>

export type StatementKind = keyof typeof statementKinds
export type Claims = Readonly<Record<string, string | number>>

/** What a statement says, before it is signed. */
export type StatementContent<K extends StatementKind = StatementKind> = {
  readonly kind: K
  readonly open: { readonly [N in keyof (typeof statementKinds)[K]['open']]: string | number }
  readonly hidden: { readonly [N in keyof (typeof statementKinds)[K]['hidden']]?: string | number }
}

export const kindOf = (vct: unknown): StatementKind | undefined =>
  (Object.keys(statementKinds) as StatementKind[]).find((kind) => statementKinds[kind].vct === vct)

/** The forms of the claims of a kind; names that it does not have are missing. */
export const formsOf = (kind: StatementKind, part: 'open' | 'hidden'): Readonly<Record<string, Form>> =>
  statementKinds[kind][part]
