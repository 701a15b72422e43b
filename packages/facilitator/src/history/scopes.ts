/**
 * Who sees what of the history. Everything that a participant is told of a payment passes through here, in whatever format:
 * lists, exports, totals and statements.
 *
 * Payers learn finality by day, only once the day is over, and never the day of the burn itself. A payer that could tell the
 * minute would look at the mints of that minute and find the treasury.
 */
import {
  type Address,
  accept,
  type BaseUnits,
  type ChallengeNonce,
  type Result,
  reject,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import type { ParticipantBinding, ParticipantRole } from '../config/secrets/history.js'
import type { Sum } from '../payment/books.js'
import {
  type Burn,
  type Fee,
  type Finalized,
  type LateBurn,
  type LateReason,
  type Mint,
  payerOf,
} from '../payment/records.js'
import type { HistoryFilter, HistoryScope, HistoryTotals } from './answers.js'
import {
  type HistoryPayment,
  type HistoryPhase,
  phaseOf,
  type RecordKind,
  secondsPerDay,
  toldFinalityAt,
} from './payment.js'

/** The payments that one participant may see. */
export type Sight =
  | { readonly role: 'provider'; readonly scope: Extract<HistoryScope, { kind: 'treasury' }> }
  /** Without a scope the payer has no address here: it sees the payments whose nonce it presents, one by one. */
  | { readonly role: 'payer'; readonly scope: Extract<HistoryScope, { kind: 'payer' }> | undefined }

/** A payment as one participant may see it. Hidden fields are absent. */
export type SeenPayment = {
  readonly challengeNonce: ChallengeNonce
  readonly phase: HistoryPhase
  readonly amount: BaseUnits
  readonly listPrice: BaseUnits
  readonly fee?: SeenFee
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
  readonly treasury?: Address
  readonly payer?: Address
  readonly payTo?: Address
  readonly accepted?: SeenBurn
  /** The mint of the accepted burn; of the late burn where none was accepted. */
  readonly finalized?: SeenMint
  readonly late?: SeenBurn & {
    readonly reason: LateReason
    /** Its own mint, where another burn was accepted. */
    readonly finalized?: SeenMint
  }
  /** Transfers that covered nothing. They may be anybody's, so their hashes are in no history. */
  readonly unmatched: readonly { readonly reason: string; readonly at: UnixSeconds }[]
  readonly disclosedAt?: UnixSeconds
}

type SeenFee = Pick<Fee, 'amount' | 'bps' | 'chargeTo'>

export type SeenBurn = {
  readonly at: UnixSeconds
  readonly value: BaseUnits
  /** The place on the chain, which names the payer. */
  readonly burn?: Pick<Burn, 'txHash' | 'blockNumber' | 'leafIndex'>
}

export type SeenMint = {
  /** The day in UTC, as `YYYY-MM-DD`. For payers at least one day after the burn; the mint happened on or before it. */
  readonly on: string
  /** The rest is the provider's alone. */
  readonly at?: UnixSeconds
  readonly mint?: Mint
}

/** One turn of a payment. Payers are told the day of `finalized` instead of its second. */
export type SeenTurn = { readonly kind: RecordKind } & (
  | { readonly at: UnixSeconds }
  | { readonly on: string }
)

export type SeenTotals = {
  readonly accepted: Sum
  readonly late: Sum
  /** Both are the provider's alone. A sum of mints that a payer can read again and again tells the minute of each. */
  readonly fees?: Sum
  readonly finalized?: Sum
}

export function sightOf(
  role: ParticipantRole,
  participants: Readonly<Record<ParticipantRole, Pick<ParticipantBinding, 'address'>>>,
  treasury: Address,
): Sight {
  if (role === 'provider') return { role, scope: { kind: 'treasury', treasury } }
  const payer = participants.payer.address
  return { role, scope: payer === undefined ? undefined : { kind: 'payer', payer } }
}

/** The first second of the running day in UTC. Payers are told of mints that `toldFinalityAt` puts before it. */
export const finalityToldBefore = (now: UnixSeconds): UnixSeconds =>
  (now - (now % secondsPerDay)) as UnixSeconds

/** The day in UTC, as `YYYY-MM-DD`. */
export const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)

/** The part of a question that the participant cannot choose. */
export type Bounds = Pick<HistoryFilter, 'scope' | 'finalityBefore'>

/** `nonce_required` for a payer without an address: it has no list, and names each payment that it wants to see. */
export function boundsOf({ role, scope }: Sight, now: UnixSeconds): Result<Bounds> {
  if (scope === undefined) return reject('nonce_required')
  return accept(role === 'provider' ? { scope } : { scope, finalityBefore: finalityToldBefore(now) })
}

/** Undefined when the payment is not the participant's: nobody is told whether there is one. */
export function seenBy(
  sight: Sight,
  payment: HistoryPayment | undefined,
  now: UnixSeconds,
): SeenPayment | undefined {
  return payment && isWithin(sight, payment) ? redact(sight, payment, now) : undefined
}

function isWithin({ scope }: Sight, payment: HistoryPayment): boolean {
  if (scope === undefined) return true
  if (scope.kind === 'treasury') return payment.challenge.treasury === scope.treasury
  return payerOf(payment) === scope.payer
}

function redact(sight: Sight, payment: HistoryPayment, now: UnixSeconds): SeenPayment {
  const { challenge, accepted } = payment
  const isNamed = seesPayer(sight, payment)
  const payer = payerOf(payment)
  const late = lateSeenBy(sight, payment)
  const finalized = toldMint(sight, mintOf(payment), now)
  return {
    challengeNonce: challenge.nonce,
    phase: toldPhase(sight, payment, now),
    amount: challenge.amount,
    listPrice: challenge.listPrice,
    ...feeSeenBy(sight, challenge.fee),
    issuedAt: challenge.issuedAt,
    expiresAt: challenge.expiresAt,
    ...(sight.role === 'provider' && { treasury: challenge.treasury }),
    ...(isNamed && { payTo: challenge.payTo }),
    ...(isNamed && payer !== undefined && { payer }),
    ...(accepted && { accepted: seenBurn(accepted, isNamed) }),
    ...(finalized && { finalized }),
    ...(late && {
      late: {
        ...seenBurn(late, isNamed && late.burn.from === payer),
        reason: late.reason,
        ...lateMint(sight, payment, now),
      },
    }),
    unmatched: (payment.unmatched ?? []).map(({ reason, at }) => ({ reason, at })),
    ...(payment.disclosedAt !== undefined && { disclosedAt: payment.disclosedAt }),
  }
}

/** A payer sees itself, the provider those payers that let it. A caller with a nonce alone is shown no address. */
function seesPayer({ role, scope }: Sight, { disclosedAt }: HistoryPayment): boolean {
  return role === 'provider' ? disclosedAt !== undefined : scope !== undefined
}

/** A late burn beside an accepted one may be somebody else's. Payers do not see it then. */
function lateSeenBy({ role }: Sight, payment: HistoryPayment): LateBurn | undefined {
  const { late } = payment
  return role === 'provider' || late?.burn.from === payerOf(payment) ? late : undefined
}

function lateMint(sight: Sight, payment: HistoryPayment, now: UnixSeconds) {
  const finalized = toldMint(sight, lateMintOf(payment), now)
  return finalized && { finalized }
}

/** A mint, and when its burn came. */
type MintOfBurn = { readonly finalized: Finalized; readonly burnedAt: UnixSeconds }

const mintOf = ({ accepted, late, finalized }: HistoryPayment): MintOfBurn | undefined =>
  finalized && { finalized, burnedAt: accepted?.at ?? late?.at ?? finalized.at }

const lateMintOf = ({ late, lateMinted }: HistoryPayment): MintOfBurn | undefined =>
  lateMinted && { finalized: lateMinted, burnedAt: late?.at ?? lateMinted.at }

/** The fee that the provider bears is no business of payers. Its recipient is paid by the treasury, so nobody sees it. */
function feeSeenBy({ role }: Sight, fee: Fee | undefined): { fee: SeenFee } | undefined {
  if (!fee || (role === 'payer' && fee.chargeTo !== 'payer')) return undefined
  const { amount, bps, chargeTo } = fee
  return { fee: { amount, bps, chargeTo } }
}

const seenBurn = (
  { at, burn: { value, txHash, blockNumber, leafIndex } }: { at: UnixSeconds; burn: Burn },
  isShown: boolean,
): SeenBurn => ({ at, value, ...(isShown && { burn: { txHash, blockNumber, leafIndex } }) })

function toldMint({ role }: Sight, minted: MintOfBurn | undefined, now: UnixSeconds): SeenMint | undefined {
  if (!minted) return undefined
  const { at, mint } = minted.finalized
  if (role === 'provider') return { on: dayOf(at), at, mint }
  const toldAt = toldFinalityAt(minted.burnedAt, at)
  return toldAt < finalityToldBefore(now) ? { on: dayOf(toldAt) } : undefined
}

function toldPhase(sight: Sight, payment: HistoryPayment, now: UnixSeconds): HistoryPhase {
  const { finalized: _, ...rest } = payment
  return phaseOf(toldMint(sight, mintOf(payment), now) ? payment : rest)
}

/**
 * The turns of a payment that the participant may see, in order. To payers a mint is shown behind everything of its day:
 * its place among turns with a time would tell when it happened.
 */
export function turnsSeenBy(sight: Sight, payment: HistoryPayment, now: UnixSeconds): SeenTurn[] {
  if (sight.role === 'provider') return payment.turns.map(({ kind, at }) => ({ kind, at }))
  const hasLate = lateSeenBy(sight, payment) !== undefined
  // Late burns before the one that counts may be anybody's.
  const late = hasLate ? payment.turns.findLast(({ kind }) => kind === 'late') : undefined
  const timed = payment.turns
    .filter((turn) => turn.kind !== 'finalized' && (turn.kind !== 'late' || turn === late))
    .map(({ kind, at }) => ({ place: at as number, turn: { kind, at } }))
  const mints = [mintOf(payment), hasLate ? lateMintOf(payment) : undefined]
    .flatMap((minted) => toldMint(sight, minted, now) ?? [])
    .map(({ on }) => ({ place: endOfDay(on), turn: { kind: 'finalized' as const, on } }))
  return [...timed, ...mints].sort((a, b) => a.place - b.place).map(({ turn }) => turn)
}

const endOfDay = (day: string): number => Date.parse(day) / 1_000 + secondsPerDay

export function totalsSeenBy({ role }: Sight, totals: HistoryTotals): SeenTotals {
  const { accepted, late, fees, finalized } = totals
  return role === 'provider' ? { accepted, late, fees, finalized } : { accepted, late }
}
