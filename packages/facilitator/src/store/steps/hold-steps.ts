/**
 * Grants that callers at several daemons want. The hold of one keeps the others off until it was answered, or until the
 * hold runs out because its daemon died.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { Accepted, Payment } from '../../payment/records.js'
import { first, key, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** The burn that paid, or why nobody may be told of it. */
export type Grantable = Accepted | 'used' | 'not_accepted' | 'ticket_needed'

/**
 * Everything in a permit payload stands in the calldata of its burn. So a payment that was claimed with the ticket of
 * its offer is granted only to a request with the ticket.
 */
export function grantableIn(payment: Payment | undefined, ticketed: boolean): Grantable {
  if (payment?.granted) return 'used'
  if (payment?.claim?.ticketed && !ticketed) return 'ticket_needed'
  return payment?.accepted ?? 'not_accepted'
}

/** The name of a daemon in a hold that none of its callers has taken yet: to give that up ends no hold that one took. */
export const untaken = (holder: string) => `${holder}, untaken`

/** The burn that paid, for the holder of the grant. */
function* takeHold(
  { rows, sharedNow }: StepContext,
  nonce: ChallengeNonce,
  holder: string,
  ticketed: boolean,
): Step<Grantable | 'held'> {
  const found = grantableIn((yield* rows.payment(nonce))?.payment, ticketed)
  if (typeof found === 'string') return found
  const held = yield* first(sql`
    INSERT INTO hold (nonce, holder, until_ms) VALUES (${key(nonce)}, ${holder}, ${sharedNow} + ${limits.grantHoldMs})
    ON CONFLICT (nonce) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
      WHERE hold.until_ms < ${sharedNow} OR hold.holder IN (excluded.holder, ${untaken(holder)})
    RETURNING holder`)
  return held ? found : 'held'
}

/** A payment that was accepted and is held, and whether a ticket is needed to be told of it. */
export type Held = { readonly accepted: Accepted; readonly ticketed: boolean }

/** The hold of a grant that nobody can hold yet, for a caller at this daemon who is about to take it. */
export function* beginHold({ sharedNow }: StepContext, nonce: ChallengeNonce, holder: string): Step<void> {
  yield sql`
    INSERT INTO hold (nonce, holder, until_ms) VALUES (${key(nonce)}, ${untaken(holder)}, ${sharedNow} + ${limits.grantHoldMs})
    ON CONFLICT (nonce) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms`
}

export function* endHold(_: StepContext, nonce: ChallengeNonce, holder: string): Step<void> {
  yield sql`DELETE FROM hold WHERE nonce = ${key(nonce)} AND holder IN (${holder}, ${untaken(holder)})`
}

export const holdSteps = { takeHold, endHold }
