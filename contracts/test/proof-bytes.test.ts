import { encodeAbiParameters, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { encodeRootProof, encodeWithdrawProof, type Transfer } from '../index.js'

const proof = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 2n ** 256n - 1n]

const rootProofType = [
  {
    type: 'tuple',
    components: [
      { name: 'oldIndex', type: 'uint64' },
      { name: 'count', type: 'uint64' },
      { name: 'batch', type: 'uint16' },
      { name: 'newRoot', type: 'uint256' },
      {
        name: 'transfers',
        type: 'tuple[]',
        components: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
        ],
      },
      { name: 'proof', type: 'uint256[8]' },
    ],
  },
] as const

const transfersOf = (count: number): Transfer[] =>
  Array.from({ length: count }, (_, i) => ({
    from: numberToHex(i, { size: 20 }),
    to: numberToHex(2n ** 160n - 1n - BigInt(i), { size: 20 }),
    value: 2n ** 248n - 1n - BigInt(i),
  }))

describe('a root proof', () => {
  test.each([0, 1, 59])('with %i transfers is encoded as the ABI says', (count) => {
    const claim = {
      oldIndex: 2n ** 40n,
      count,
      batch: 64,
      newRoot: 99n,
      transfers: transfersOf(count),
      proof,
    }
    const [a, b, c, d, e, f, g, h] = proof as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]
    const standard = { ...claim, count: BigInt(count), proof: [a, b, c, d, e, f, g, h] as const }
    expect(encodeRootProof(claim)).toBe(encodeAbiParameters(rootProofType, [standard]))
  })

  test('of another number of words is refused', () => {
    const claim = { oldIndex: 0n, count: 1, batch: 16, newRoot: 1n, transfers: [], proof: proof.slice(1) }
    expect(() => encodeRootProof(claim)).toThrow('7 instead of 8 proof words')
  })
})

describe('a withdraw proof', () => {
  test('is eight words and three signals in a row', () => {
    const words = [...proof, 9n, 10n, 11n]
    const types = words.map(() => ({ type: 'uint256' }))
    expect(encodeWithdrawProof(proof, [9n, 10n, 11n])).toBe(encodeAbiParameters(types, words))
  })

  test('of other lengths, or with a word that is none, is refused', () => {
    expect(() => encodeWithdrawProof(proof, [1n, 2n])).toThrow('2 instead of 3 withdraw signals')
    expect(() => encodeWithdrawProof([...proof, 1n], [1n, 2n, 3n])).toThrow('9 instead of 8 proof words')
    expect(() => encodeWithdrawProof(proof, [1n, 2n, 2n ** 256n])).toThrow('is no 256-bit word')
    expect(() => encodeWithdrawProof(proof, [1n, 2n, -1n])).toThrow('is no 256-bit word')
  })
})
