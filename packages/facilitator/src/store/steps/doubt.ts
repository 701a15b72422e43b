/**
 * An older copy of a ledger. It lacks all that happened after it was made: which addresses were handed out, which burns were
 * granted. So nothing of that time is believed. Ready addresses are dropped, the chain is followed from the first address
 * again, and a burn of that time for a challenge of the copy buys nothing any more: it is minted and told to the operator.
 * Transactions of that time are the chain's to tell: each account is bound again by the next daemon that uses it.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Burn } from '../../payment/records.js'
import type { PaymentRow } from '../rows/payment-rows.js'
import { type Doubt, doubtSetting } from '../rows/rows.js'
import { first, hexOf, key, type Step, sql } from '../sql.js'
import { doubtAccounts } from './operator-steps.js'
import type { StepContext } from './step-context.js'

/** Whether the burn may have been granted behind the copy. */
export function* isDoubtful(
  { rows }: Pick<StepContext, 'rows'>,
  { id, payment }: PaymentRow,
  { blockNumber }: Burn,
): Step<boolean> {
  if (payment.granted) return false
  const doubt = yield* rows.setting<Doubt>(doubtSetting)
  return doubt !== undefined && id <= doubt.payment && blockNumber <= BigInt(doubt.block)
}

/** Whether nobody was handed the address behind the copy: all that were ready then have left the stock. */
export function* isUnseen({ rows }: Pick<StepContext, 'rows'>, nonce: ChallengeNonce): Step<boolean> {
  if ((yield* rows.setting<Doubt>(doubtSetting)) === undefined) return true
  return (yield* first(sql`SELECT id FROM ready WHERE nonce = ${key(nonce)}`)) !== undefined
}

/** Unserved payments of one transaction: none takes long, however many there are. */
const unservedAtOnce = 500

/**
 * Goes on with a copy. `head` is the newest block of the chain. Unless the operator said that it is one, the ledger itself must
 * say so: another daemon may have accepted it meanwhile, or this one, whose answer was lost. `begun`: the step must be asked for
 * again.
 */
function* acceptCopy(context: StepContext, head: number, isSaid = true): Step<'accepted' | 'begun' | 'live'> {
  if (!isSaid && (yield* first(sql`SELECT state FROM ledger`))?.state !== 'copy') return 'live'
  // A payer from before the copy may have been served behind it.
  const unserved = yield sql`
    SELECT id, nonce, record FROM payment WHERE stage = 'accepted' AND granted = 0 ORDER BY id LIMIT ${unservedAtOnce}`
  // None of them is read again by itself: over a network nobody has the time.
  context.rows.preload({ nonces: [], payers: [], payments: unserved, claims: [] })
  for (const { nonce } of unserved) {
    yield* context.record({ event: 'grant_used', challengeNonce: hexOf(nonce) as ChallengeNonce })
  }
  if (unserved.length === unservedAtOnce) {
    // Nobody is served before the end, whoever brings it about.
    yield sql`UPDATE ledger SET state = 'copy'`
    return 'begun'
  }
  const newest = yield* first(sql`
    SELECT COALESCE(max(id), 0) AS payment, (SELECT COALESCE(max(seq), 0) FROM event) AS event FROM payment`)
  yield* context.record({
    event: 'setting_changed',
    name: doubtSetting,
    setting: { payment: newest?.payment, event: newest?.event, block: head } satisfies Doubt,
  })
  yield* doubtAccounts(context)
  // Rows that are remembered, also by other daemons, know of no doubt.
  yield sql`UPDATE ledger SET state = 'live', forgotten = forgotten + 1`
  context.rows.forgetAll()
  return 'accepted'
}

export const doubtSteps = { acceptCopy }
