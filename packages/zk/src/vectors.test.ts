import { describe, expect, test } from 'vitest'
import { vectors } from '../test/vectors.js'
import { burnAddressAt, deriveBurn } from './burn-address.js'
import { type PowPuzzle, secretAt } from './burn-hash.js'
import { upstreamPowBits } from './generation.js'
import { nextHashChain } from './hash-chain.js'
import { bytesOf } from './hex.js'
import { fieldPrime, hash2, hash3 } from './poseidon.js'
import { recipientHash, recipientWord } from './recipient-hash.js'
import { deriveSeed } from './seed.js'

function emptyRoots(height: number): bigint[] {
  const roots = [0n]
  for (let below = 0n; roots.length <= height; roots.push(below)) below = hash2(below, below)
  return roots
}

describe('hashes', () => {
  test('the field prime is that of BN254', () => {
    expect(fieldPrime).toBe(BigInt(vectors.fieldPrime))
  })

  test.each(vectors.poseidon)('Poseidon of $inputs', ({ inputs, hash }) => {
    const [a = 0n, b = 0n, c] = inputs.map(BigInt)
    expect(c === undefined ? hash2(a, b) : hash3(a, b, c)).toBe(BigInt(hash))
  })

  test.each(vectors.emptyRoots)('the empty tree of height $height', ({ height, root }) => {
    expect(emptyRoots(height)[height]).toBe(BigInt(root))
  })

  test.each(vectors.hashChains)('the hash chain of generation $generation over $transfers', (vector) => {
    const { generation, transfers, chain, roots } = vector
    const leaves: bigint[] = []
    let latest = 0n
    for (const [at, { from, to, value }] of transfers.entries()) {
      latest = nextHashChain(generation, latest, { from, to, value: BigInt(value) })
      expect(latest).toBe(BigInt(chain[at] ?? -1))
      leaves.push(
        generation === 1 ? hash2(BigInt(to), BigInt(value)) : hash3(BigInt(from), BigInt(to), BigInt(value)),
      )
      if (roots === undefined) continue
      const lowest = hash2(leaves[0] ?? 0n, leaves[1] ?? 0n)
      const root = emptyRoots(39)
        .slice(1)
        .reduce((node, sibling) => hash2(node, sibling), lowest)
      expect(root).toBe(BigInt(roots[at] ?? -1))
    }
    expect(latest).not.toBe(0n)
  })

  test.each(vectors.recipientHashes)('the recipient hash on chain $chainId', ({ hash, ...to }) => {
    expect(recipientHash(to)).toBe(BigInt(hash))
  })
})

describe('burn addresses', () => {
  test.each(vectors.puzzles)('generation $generation, nonce $powNonce', (vector) => {
    const puzzle: PowPuzzle = {
      generation: vector.generation,
      powBits: vector.powBits,
      recipientHash: BigInt(vector.recipientHash),
      baseSecret: BigInt(vector.baseSecret),
    }
    expect(vector.powBits).toBe(upstreamPowBits[vector.generation])
    expect(secretAt(puzzle, vector.powNonce)).toBe(BigInt(vector.secret))
    expect(burnAddressAt(puzzle, vector.powNonce)).toBe(vector.burnAddress.toLowerCase())
    expect(burnAddressAt(puzzle, vector.powNonce - 1)).toBeUndefined()
  })

  const burns = vectors.derivations.flatMap(({ burns: of, ...derivation }) =>
    of.map((burn) => ({ ...derivation, ...burn })),
  )
  test.each(burns)('$kind on chain $chainId, generation $generation', (vector) => {
    const to = {
      chainId: vector.chainId,
      recipient: recipientWord(vector.recipient),
      tweak: vector.tweak,
    }
    const puzzle: PowPuzzle = {
      generation: vector.generation,
      powBits: vector.powBits,
      recipientHash: recipientHash(to),
      baseSecret: BigInt(vector.base) % fieldPrime,
    }
    if (vector.recipientHash !== undefined) expect(puzzle.recipientHash).toBe(BigInt(vector.recipientHash))
    expect(secretAt(puzzle, vector.powNonce)).toBe(BigInt(vector.secret))
    expect(burnAddressAt(puzzle, vector.powNonce)).toBe(vector.burnAddress.toLowerCase())
  })

  const advices = burns.filter(({ kind }) => kind === 'payment advice')
  test.each(advices)('a challenge derives as payment advice, generation $generation', (vector) => {
    const terms = {
      generation: vector.generation,
      powBits: vector.powBits,
      chainId: vector.chainId,
      treasury: vector.recipient,
      seed: bytesOf(vector.seed, 32),
      challengeNonce: vector.id,
    }
    const derived = deriveBurn(terms)
    expect(derived.tweak).toBe(vector.tweak)
    expect(derived.baseSecret).toBe(BigInt(vector.base) % fieldPrime)
    expect(derived.recipientHash).toBe(BigInt(vector.recipientHash ?? -1))
    expect(burnAddressAt(derived, vector.powNonce)).toBe(vector.burnAddress.toLowerCase())
  })

  test.each(vectors.challenges)('a treasury key and a nonce lead to $payTo', (vector) => {
    const { treasuryKey, powNonce, payTo } = vector
    const seed = deriveSeed(bytesOf(treasuryKey, 32))
    expect(seed).toEqual(bytesOf(vector.seed, 32))
    const terms = { ...vector, seed }
    const derived = deriveBurn(terms)
    expect(derived.tweak).toBe(vector.tweak)
    expect(derived.recipientHash).toBe(BigInt(vector.recipientHash))
    expect(secretAt(derived, powNonce)).toBe(BigInt(vector.secret))
    expect(burnAddressAt(derived, powNonce)).toBe(payTo.toLowerCase())
  })
})
