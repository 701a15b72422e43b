/** Amounts in tokens, as people read them. */
import { type Address, inTokens, type TokenLabel } from '@svc-zerc20/protocol'

/** An amount in tokens, as `1.5 USDC`. Undefined when the token does not tell. */
export function createInTokens(
  readLabel: (token: Address) => Promise<TokenLabel>,
): (token: Address, amount: bigint) => Promise<string | undefined> {
  const known = new Map<Address, TokenLabel>()
  return async (token, amount) => {
    try {
      const label = known.get(token) ?? (await readLabel(token))
      known.set(token, label)
      return inTokens(amount, label)
    } catch {
      return undefined
    }
  }
}
