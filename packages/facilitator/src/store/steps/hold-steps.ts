/**
 * Grants that callers at several daemons want. The hold of one keeps the others off until it was answered, or until the
 * hold runs out because its daemon died.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { Accepted } from '../../payment/records.js'
import { first, key, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** The burn that paid, for whoever holds the grant now. */
function* takeHold(
  { rows, sharedMs }: StepContext,
  nonce: ChallengeNonce,
  holder: string,
): Step<Accepted | 'used' | 'held' | 'not_accepted'> {
  const { granted, accepted } = (yield* rows.payment(nonce))?.payment ?? { granted: false }
  if (granted) return 'used'
  if (!accepted) return 'not_accepted'
  const held = yield* first(sql`
    INSERT INTO hold (nonce, holder, until_ms) VALUES (${key(nonce)}, ${holder}, ${sharedMs + limits.grantHoldMs})
    ON CONFLICT (nonce) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
      WHERE hold.until_ms < ${sharedMs} OR hold.holder = excluded.holder
    RETURNING holder`)
  return held ? accepted : 'held'
}

export function* endHold(_: StepContext, nonce: ChallengeNonce, holder: string): Step<void> {
  yield sql`DELETE FROM hold WHERE nonce = ${key(nonce)} AND holder = ${holder}`
}

export const holdSteps = { takeHold, endHold }
