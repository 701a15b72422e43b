/** Steps of logins to the history: nonces that were used. No event speaks of them, because a login message is soon past its end. */
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import { first, key, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** A nonce is kept this long behind its end: the clock of another daemon may be late. */
const marginSeconds = 300

/** `full` when this many nonces of the address are remembered. */
function* useLogin(
  { now }: StepContext,
  nonce: string,
  expiresAt: UnixSeconds,
  address: Address,
  usedMax: number,
): Step<'taken' | 'used' | 'full'> {
  yield sql`DELETE FROM login WHERE expires_at + ${marginSeconds} < ${now}`
  const row = yield* first(sql`
    SELECT (SELECT count(*) FROM login WHERE nonce = ${nonce}) AS known,
      (SELECT count(*) FROM login WHERE address = ${key(address)} AND expires_at > ${now}) AS held`)
  if (row?.known > 0) return 'used'
  if (row?.held >= usedMax) return 'full'
  yield sql`INSERT INTO login (nonce, address, expires_at) VALUES (${nonce}, ${key(address)}, ${expiresAt})`
  return 'taken'
}

function* giveBackLogin(_: StepContext, nonce: string): Step<void> {
  yield sql`DELETE FROM login WHERE nonce = ${nonce}`
}

export const loginSteps = { useLogin, giveBackLogin }
