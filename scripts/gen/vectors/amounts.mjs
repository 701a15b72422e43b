import { parseAmount, parseBaseUnits } from '@svc-zerc20/protocol'
import { expectSame, vectorFile } from './vector-file.mjs'

const description =
  'Numbers of the smallest unit. "baseUnits" says whether "input" may stand in a permit (an integer from 0 to 2^256 - 1), "amount" whether it may be the amount of an offer (from 1 to 2^248 - 1). A valid input is a string of decimal digits without sign, leading zero, exponent or separator.'

const cases = [
  { input: '0', baseUnits: true, amount: false },
  { input: '1', baseUnits: true, amount: true },
  { input: '10000', baseUnits: true, amount: true },
  { input: '9007199254740993', baseUnits: true, amount: true },
  { input: `${2n ** 64n}`, baseUnits: true, amount: true },
  { input: `${2n ** 248n - 1n}`, baseUnits: true, amount: true },
  { input: `${2n ** 248n}`, baseUnits: true, amount: false },
  { input: `${2n ** 256n - 1n}`, baseUnits: true, amount: false },
  { input: `${2n ** 256n}`, baseUnits: false, amount: false },
  { input: '9'.repeat(78), baseUnits: false, amount: false },
  { input: '9'.repeat(79), baseUnits: false, amount: false },
  ...['', ' ', ' 1', '1 ', '1\n', '00', '01', '-1', '-0', '+1', '1e3', '1E3', '0x10', '0b1', '0o7', '1.0'],
  ...['1.', '.1', '1_000', '1,000', '1n', 'Infinity', 'NaN', '１', '١'],
  ...[1, 0, 10000, null, true, ['1'], { value: '1' }],
].map((entry) => (entry?.baseUnits === undefined ? { input: entry, baseUnits: false, amount: false } : entry))

/** test/vectors/protocol/amounts.json */
export function renderAmounts() {
  for (const { input, baseUnits, amount } of cases) {
    const name = JSON.stringify(input)
    expectSame(name, parseBaseUnits(input), baseUnits ? BigInt(input) : undefined)
    expectSame(name, parseAmount(input), amount ? BigInt(input) : undefined)
  }
  return vectorFile(description, { cases })
}
