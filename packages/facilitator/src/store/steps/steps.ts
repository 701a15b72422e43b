/**
 * The steps of the ledger: each reads, decides and records in one transaction. A step throws before it writes, or not at
 * all. Outcomes are those of the ledger's port.
 */
import { type ChallengeNonce, Payload, SvcError } from '@svc-zerc20/protocol'
import type { Ledger, Pause, SureOf } from '../../payment/ledger-port.js'
import type {
  Accepted,
  Burn,
  Challenge,
  LateReason,
  Mint,
  PayerMeans,
  Payment,
  Released,
  SignedTransaction,
} from '../../payment/records.js'
import { judgeMeans } from '../../payment/settle/judge.js'
import { leaseLost } from '../lease.js'
import { awaitedIn } from '../leaves.js'
import type { LeafRows } from '../rows/leaf-rows.js'
import { nonceReused } from '../rows/payment-rows.js'
import { pauseSetting } from '../rows/rows.js'
import { isCarried } from '../rows/transaction-rows.js'
import { first, list, type Step, sql } from '../sql.js'
import { isDoubtful, isUnseen } from './doubt.js'
import type { StepContext } from './step-context.js'

type Outcome<Name extends keyof Ledger> = Awaited<ReturnType<Ledger[Name]>>

/**
 * Whether one more challenge may be opened. Each seller has a number of its own that nobody else takes; the rest is for
 * everybody. Thousands may be open: they are counted in indexes, without a look at a row.
 */
function* hasRoom({ now, settings }: StepContext, seller: string | undefined): Step<boolean> {
  const { openMax, openOfSellers } = settings
  const isOpen = sql`stage = 'unclaimed' AND expires_at > ${now}`
  const rows = yield sql`
    SELECT NULL AS seller, count(*) AS open FROM payment WHERE ${isOpen} UNION ALL
    SELECT seller, count(*) FROM payment WHERE ${isOpen} AND seller IN ${list([null, ...openOfSellers.keys()])} GROUP BY seller`
  const open = new Map<string | null, number>(rows.map((row) => [row.seller, row.open]))
  const free = openMax - (open.get(null) ?? 0)
  const left = (name: string) => Math.max(0, (openOfSellers.get(name) ?? 0) - (open.get(name) ?? 0))
  if (seller !== undefined && left(seller) > 0) return free > 0
  return free > [...openOfSellers.keys()].reduce((kept, name) => kept + left(name), 0)
}

function* issue(context: StepContext, challenge: Challenge): Step<Outcome<'issue'>> {
  const pause = yield* context.rows.setting<Pause>(pauseSetting)
  if (pause) return pause
  if (!(yield* hasRoom(context, challenge.seller))) return 'limit'
  // A daemon may hold addresses that it took before the copy was accepted.
  if (!(yield* isUnseen(context, challenge.nonce))) throw nonceReused()
  yield* context.record({ event: 'challenge_issued', challenge })
  return 'issued'
}

/** Whether a payment is past its retention: then it counts as forgotten. */
export const isForgotten = (
  { challenge, claim, accepted, late, unmatched }: Payment,
  { now, settings }: Pick<StepContext, 'now' | 'settings'>,
): boolean =>
  !(claim ?? accepted ?? late ?? unmatched) && challenge.expiresAt + settings.expiredRetentionSeconds <= now

function* claim(
  context: StepContext,
  nonce: ChallengeNonce,
  payload: Payload.Payload,
  ticketed: boolean,
  means: PayerMeans | undefined,
): Step<Outcome<'claim'>> {
  const { payment } = (yield* context.rows.payment(nonce)) ?? {}
  const identity = Payload.identity(payload)
  if (payment?.claim) return payment.claim.identity === identity ? 'same_payload' : 'other_payload'
  // Its payer was told that it came too late, or nobody brought it in time.
  const isLate = payment?.late?.reason === 'late' || payment?.late?.reason === 'unpresented'
  if (!payment || isLate || isForgotten(payment, context)) return 'forgotten'
  if (payload.kind === 'permit') {
    const claims = yield* context.rows.openClaims(payload.payer)
    if (means) {
      const refusal = judgeMeans(payment.challenge, payload, means, claims)
      if (refusal) return refusal
    } else if (claims.some(({ permitNonce }) => permitNonce === payload.permit.nonce)) {
      return 'permit_nonce_in_use'
    }
  }
  yield* context.record({ event: 'payment_claimed', challengeNonce: nonce, identity, ticketed, payload })
  return 'claimed'
}

/** A payment that is accepted, or was before a reorg, keeps its claim: news that its burn failed came too late. */
function* release(
  context: StepContext,
  nonce: ChallengeNonce,
  why: Released | undefined,
  { unsigned, identity }: SureOf = {},
): Step<Outcome<'release'>> {
  const { payment } = (yield* context.rows.payment(nonce)) ?? {}
  if (!payment?.claim || payment.accepted || payment.demoted) return 'kept'
  if (identity !== undefined && identity !== payment.claim.identity) return 'kept'
  if (unsigned && (yield* isCarried(nonce))) return 'kept'
  yield* context.record({ event: 'claim_released', challengeNonce: nonce, ...(why && { why }) })
  return 'released'
}

/**
 * Throws `SvcError('lease_lost')` for a burn that is not claimed any more. A raised price may be signed after some of the
 * burns ended.
 */
function* recordSigned(
  context: StepContext,
  transaction: SignedTransaction,
  nonces: readonly ChallengeNonce[],
): Step<void> {
  let claims = 0
  for (const nonce of nonces) if ((yield* context.rows.payment(nonce))?.payment.claim) claims += 1
  const isWhole = claims === nonces.length
  if (!isWhole && (claims === 0 || !transaction.isReplacement)) throw leaseLost()
  yield* context.record({ event: 'burn_signed', challengeNonces: nonces, transaction })
}

/** `accepted_again`: it was accepted before a reorg, and may have been granted then. */
function* accept(
  context: StepContext,
  nonce: ChallengeNonce,
  burn: Burn,
): Step<Outcome<'accept'> | 'accepted_again'> {
  const row = yield* context.rows.payment(nonce)
  const { payment } = row ?? {}
  if (payment?.accepted) return 'already_accepted'
  if (!row || !payment?.claim) return 'not_claimed'
  if (yield* isDoubtful(context, row, burn)) {
    yield* putLate(context, payment.challenge, burn, 'unrecorded')
    return 'not_claimed'
  }
  yield* context.record({ event: 'payment_accepted', challengeNonce: nonce, burn })
  return payment.demoted ? 'accepted_again' : 'accepted'
}

function* demote(context: StepContext, nonce: ChallengeNonce): Step<Outcome<'demote'>> {
  const { payment } = (yield* context.rows.payment(nonce)) ?? {}
  if (!payment?.accepted) return 'not_accepted'
  const { leaves } = yield* context.rows.leaves(nonce)
  if (leaves.accepted?.finalized) return 'already_finalized'
  yield* context.record({ event: 'payment_demoted', challengeNonce: nonce })
  return 'demoted'
}

function* moveBurn(context: StepContext, nonce: ChallengeNonce, burn: Burn): Step<void> {
  const { leaves } = yield* loadMintable(context, nonce)
  const awaited = awaitedIn(leaves)
  if (!awaited) return
  const of = awaited === leaves.accepted ? 'accepted' : 'late'
  yield* context.record({ event: 'burn_moved', challengeNonce: nonce, of, burn })
}

function* loadMintable(context: StepContext, nonce: ChallengeNonce): Step<LeafRows> {
  const loaded = yield* context.rows.leaves(nonce)
  if (loaded.leaves.accepted ?? loaded.leaves.late) return loaded
  throw new SvcError('invariant', `no burn of ${nonce} is known that could have been minted`)
}

/** Payments that are minted already, or cannot be, need no transaction of their own any more. */
function* recordMintSigned(
  context: StepContext,
  transaction: SignedTransaction,
  nonces: readonly ChallengeNonce[],
): Step<void> {
  const carried: ChallengeNonce[] = []
  for (const nonce of nonces) {
    const { leaves } = yield* context.rows.leaves(nonce)
    // A demoted payment may be accepted again, and its mint sent again.
    const isDemoted = !leaves.accepted && (yield* context.rows.payment(nonce))?.payment.demoted !== undefined
    if (awaitedIn(leaves) || isDemoted) carried.push(nonce)
  }
  yield* context.record({ event: 'mint_signed', challengeNonces: carried, transaction })
}

function* finalize(
  context: StepContext,
  nonce: ChallengeNonce,
  mint: Mint,
  burned: Burn['value'],
): Step<Outcome<'finalize'>> {
  const { leaves } = yield* loadMintable(context, nonce)
  const awaited = awaitedIn(leaves)
  if (!awaited) return 'already_finalized'
  if (awaited.burn.value > burned) return 'outgrown'
  const of = awaited === leaves.accepted ? 'accepted' : 'late'
  yield* context.record({ event: 'payment_finalized', challengeNonce: nonce, of, mint, burned })
  return 'finalized'
}

/** A claim may still be accepted for this very burn. Only `recover` adds a burn to it, where the record was lost. */
function* recordLate(
  context: StepContext,
  challenge: Challenge,
  burn: Burn,
  reason: LateReason,
): Step<Outcome<'recordLate'>> {
  const { claim, accepted } = (yield* context.rows.payment(challenge.nonce))?.payment ?? {}
  if (claim && !accepted && reason !== 'unrecorded') return 'claimed'
  return yield* putLate(context, challenge, burn, reason)
}

function* putLate(
  context: StepContext,
  challenge: Challenge,
  burn: Burn,
  reason: LateReason,
): Step<'recorded' | 'known'> {
  const row = yield* context.rows.payment(challenge.nonce)
  const { accepted, late } = row?.payment ?? {}
  // A burn that is recorded again is still one burn.
  if (burn.value <= (late?.burn.value ?? accepted?.burn.value ?? 0n)) return 'known'
  // A challenge that was found again from the chain.
  if (!row) yield* context.record({ event: 'challenge_issued', challenge })
  yield* context.record({ event: 'burn_late', challenge, burn, reason })
  return 'recorded'
}

function* recordUnmatched(
  context: StepContext,
  nonce: ChallengeNonce,
  { txHash, reason }: { readonly txHash: Burn['txHash']; readonly reason: string },
): Step<Outcome<'recordUnmatched'>> {
  const { payment } = (yield* context.rows.payment(nonce)) ?? {}
  if (!payment) return 'forgotten'
  const { unmatched = [] } = payment
  if (unmatched.some((known) => known.txHash === txHash)) return 'known'
  const { perChallenge, total } = context.settings.unmatchedMax
  const all = yield* first(sql`SELECT count(*) AS count FROM event WHERE kind = 'burn_unmatched'`)
  if (unmatched.length >= perChallenge || all?.count >= total) return 'full'
  yield* context.record({ event: 'burn_unmatched', challengeNonce: nonce, txHash, reason })
  return 'recorded'
}

/** The burn that paid, or why nobody may be told of it. */
type Grantable = Accepted | 'used' | 'not_accepted' | 'ticket_needed'

/**
 * Everything in a permit payload stands in the calldata of its burn. So a payment that was claimed with the ticket of
 * its offer is granted only to a request with the ticket.
 */
export function grantableIn(payment: Payment | undefined, ticketed: boolean): Grantable {
  if (payment?.granted) return 'used'
  if (payment?.claim?.ticketed && !ticketed) return 'ticket_needed'
  return payment?.accepted ?? 'not_accepted'
}

/** As a step it tells of an instant at which this daemon was active. */
function* findGrantable({ rows }: StepContext, nonce: ChallengeNonce, ticketed: boolean): Step<Grantable> {
  return grantableIn((yield* rows.payment(nonce))?.payment, ticketed)
}

/** The answers of these payments were written. */
function* useGrants(context: StepContext, nonces: readonly ChallengeNonce[]): Step<void> {
  for (const nonce of nonces) {
    const { payment } = (yield* context.rows.payment(nonce)) ?? {}
    // A step that was answered with a failure may have recorded it, and it is named again.
    if (!payment || payment.granted) continue
    yield* context.record({ event: 'grant_used', challengeNonce: nonce })
  }
}

export const ledgerSteps = {
  issue,
  claim,
  release,
  recordSigned,
  accept,
  demote,
  moveBurn,
  recordMintSigned,
  finalize,
  recordLate,
  recordUnmatched,
  findGrantable,
  useGrants,
}
