/** The environment's choices about money. */
import { parseAddress, parseBaseUnits, SvcError } from '@svc-zerc20/protocol'
import type { PayerOptions } from './payer-options.js'

export type SpendChoices = {
  readonly choices: Required<Pick<PayerOptions, 'maxAmountPerPayment' | 'allowedTokens'>>
  /** One sentence for each choice that was not made. Show them where the operator looks. */
  readonly warnings: readonly string[]
}

/**
 * Reads `SVC_MAX_PER_PAYMENT` and `SVC_ALLOWED_TOKEN`. Unset variables keep their documented meaning, which is to
 * allow everything; the warnings say so. A value that cannot be read is refused by name.
 */
export function readSpendChoices(environment: Readonly<Record<string, string | undefined>>): SpendChoices {
  const { SVC_MAX_PER_PAYMENT: cap, SVC_ALLOWED_TOKEN: token } = environment
  if (cap !== undefined && parseBaseUnits(cap) === undefined) {
    throw new SvcError('payer_misconfigured', `SVC_MAX_PER_PAYMENT: ${cap} is no plain integer in base units`)
  }
  if (token !== undefined && parseAddress(token) === undefined) {
    throw new SvcError('payer_misconfigured', `SVC_ALLOWED_TOKEN: ${token} is not an address`)
  }
  const warnings = [
    ...(cap === undefined ? ['SVC_MAX_PER_PAYMENT is unset: one payment may cost all the account has'] : []),
    ...(token === undefined ? ['SVC_ALLOWED_TOKEN is unset: a seller may ask for any token'] : []),
  ]
  return {
    choices: {
      maxAmountPerPayment: cap ?? 'unlimited',
      allowedTokens: token === undefined ? 'any' : [token],
    },
    warnings,
  }
}
