/** Amounts in tokens, as people read them. */
import type { Address } from '@svc-zerc20/protocol'
import { formatUnits } from 'viem'

export type TokenLabel = { readonly symbol: string; readonly decimals: number }

/** Bounds on a token's words about itself: any token can call itself anything. */
const symbolCharsMax = 16
const decimalsMax = 77

/**
 * An amount in tokens, as `1.5 USDC`. Undefined when the token does not tell. The symbol is cut and made
 * printable.
 */
export function createInTokens(
  readLabel: (token: Address) => Promise<TokenLabel>,
): (token: Address, amount: bigint) => Promise<string | undefined> {
  const known = new Map<Address, TokenLabel>()
  return async (token, amount) => {
    try {
      const label = known.get(token) ?? (await readLabel(token))
      known.set(token, label)
      if (label.decimals > decimalsMax) return undefined
      const symbol = label.symbol.slice(0, symbolCharsMax).replace(/[^\x21-\x7e]/g, '?')
      return `${formatUnits(amount, label.decimals)} ${symbol || 'tokens'}`
    } catch {
      return undefined
    }
  }
}
