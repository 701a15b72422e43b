import { expect, it } from 'vitest'
import { mintThatReached } from './verifier.js'

const mint = (value: bigint) => ({ args: { value } })

it('a burn was minted by the transaction that brought its address to the value of the burn', () => {
  const [payment, rest] = [mint(100n), mint(50n)]
  expect(mintThatReached([payment, rest], 100n)).toBe(payment)
  expect(mintThatReached([payment, rest], 150n)).toBe(rest)
  // The first mint may be in a block before the larger burn.
  expect(mintThatReached([rest], 150n)).toBe(rest)
  expect(mintThatReached([], 100n)).toBeUndefined()
})
