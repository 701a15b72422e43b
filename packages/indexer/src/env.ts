/** The environment: keys are read from here and from nowhere else. */
import { parseAccountKey, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'

/** The key that pays for reservations and root proofs. */
export const proverKeyName = 'SVC_INDEXER_PK'

/**
 * The root prover's key, or undefined when none is set. The key is removed from the environment, so that
 * programs started later do not inherit it. The error for a malformed key does not show it.
 */
export function takeProverKey(): Hex | undefined {
  const text = process.env[proverKeyName]
  delete process.env[proverKeyName]
  if (text === undefined || text === '') return undefined
  const key = parseAccountKey(text)
  if (key === undefined) {
    throw new SvcError(
      'bad_option',
      `${proverKeyName}: expected 64 hex digits, within the range of the curve`,
    )
  }
  return key
}
