/** Amounts as people write them, "0.01", and the base units that everything here counts in. */
import { parseBaseUnits } from './brand.js'
import { SvcError } from './errors.js'

/** ERC-20 counts decimals in one byte; nothing below 2^256 has more than this many digits. */
const decimalsMax = 77
const decimalPattern = /^(0|[1-9]\d*)(?:\.(\d+))?$/

/**
 * Base units of an amount in tokens: `baseUnits('0.01', 6)` is `'10000'`. Nothing is rounded.
 *
 * @throws SvcError `invalid_amount` with the value and what is wrong with it
 */
export function baseUnits(tokens: string, decimals: number): string {
  if (!areDecimals(decimals))
    throw new SvcError('invalid_amount', `${decimals} is no number of decimals; expected 0 to ${decimalsMax}`)
  const [, whole = '', fraction = ''] = (typeof tokens === 'string' && decimalPattern.exec(tokens)) || []
  if (whole === '')
    throw new SvcError(
      'invalid_amount',
      `${JSON.stringify(tokens)} is no amount; expected a text like "0.01"`,
    )
  if (fraction.length > decimals)
    throw new SvcError(
      'invalid_amount',
      `"${tokens}" has ${fraction.length} decimal places; the token has ${decimals}`,
    )
  const units = BigInt(whole + fraction.padEnd(decimals, '0')).toString()
  if (parseBaseUnits(units) === undefined)
    throw new SvcError('invalid_amount', `"${tokens}" is 2^256 or more`)
  return units
}

/** What a token says of itself. */
export type TokenLabel = { readonly symbol: string; readonly decimals: number }

/** Whether amounts can be written by these decimals. */
export const areDecimals = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= decimalsMax

/** Any token can call itself anything. */
const symbolCharsMax = 16

/** An amount as people read it: `1.5 USDC`. Undefined when the label makes no sense. The symbol is cut and printable. */
export function inTokens(amount: bigint, { symbol, decimals }: TokenLabel): string | undefined {
  if (!areDecimals(decimals)) return undefined
  const digits = amount.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  const printable = symbol.slice(0, symbolCharsMax).replace(/[^\x21-\x7e]/g, '?')
  return `${whole}${fraction && `.${fraction}`} ${printable || 'tokens'}`
}

/** Decimals of most tokens that stand for dollars. Only examples use this number. */
const usualDecimals = 6
/** A longer text is no amount that somebody wrote, and may be a key that nobody should read here. */
const shownCharsMax = 24

/** What to add to "no base units": the value converted where it is an amount in tokens, an example otherwise. */
export function conversionOf(given: unknown): string {
  const text = String(given).replace(/^\$/, '')
  const [, , fraction = ''] = decimalPattern.exec(text) ?? []
  const isAmount =
    text.length <= shownCharsMax && decimalPattern.test(text) && fraction.length <= usualDecimals
  const example = isAmount ? text : '0.01'
  return `${example} of a token with ${usualDecimals} decimals is ${baseUnits(example, usualDecimals)} base units`
}
