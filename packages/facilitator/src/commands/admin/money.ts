/** Amounts as an operator reads them: in tokens beside base units, and gas money in the chain's own. */
import { inTokens, type TokenLabel } from '@svc-zerc20/protocol'

export function money(baseUnits: string | number, token: TokenLabel | undefined): string {
  const tokens = token && inTokens(BigInt(baseUnits), token)
  return `${baseUnits} base units${tokens === undefined ? '' : ` (${tokens})`}`
}

const chainMoney: TokenLabel = { symbol: 'ETH', decimals: 18 }

export const gasMoney = (wei: string | undefined): string =>
  (wei !== undefined && inTokens(BigInt(wei), chainMoney)) || 'unknown gas money'
