import { parseAddress } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOf, type BurnTerms, burnAddressAt, deriveBurn } from './burn-address.js'
import { burnHash, checkPow, secretAt } from './burn-hash.js'
import type { Generation } from './generation.js'
import { hexOf } from './hex.js'
import { fieldPrime } from './poseidon.js'
import { findPowNonce } from './pow-kernel.js'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hex = (length: number) => bytes(length).map(hexOf)
const terms: fc.Arbitrary<BurnTerms> = fc.record({
  generation: fc.constantFrom<Generation>(1, 2),
  powBits: fc.integer({ min: 0, max: 5 }),
  chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  treasury: hex(20),
  seed: bytes(32),
  challengeNonce: hex(32),
})
const ledgers = hex(16).map((id) => id.slice(2))
const epochs = fc.record({ ledger: ledgers, start: fc.nat() })
const few = { numRuns: 25 }

function mineNow(of: BurnTerms) {
  const puzzle = deriveBurn(of)
  const powNonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 10_000 })
  if (powNonce === undefined) throw new Error('no nonce in 10 000 tries at 5 bits or fewer')
  return { powNonce, payTo: burnAddressAt(puzzle, powNonce) ?? '0x' }
}

describe('derivation', () => {
  test('gives the same puzzle for the same terms', () => {
    fc.assert(
      fc.property(terms, (given) => {
        expect(deriveBurn({ ...given, seed: given.seed.slice() })).toEqual(deriveBurn(given))
      }),
    )
  })

  const changes: { [Name in keyof BurnTerms]?: fc.Arbitrary<BurnTerms[Name]> } = {
    challengeNonce: hex(32),
    treasury: hex(20),
    chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    seed: bytes(32),
  }
  test.each(Object.entries(changes))('another %s gives another address', (name, values) => {
    fc.assert(
      fc.property(terms, values as fc.Arbitrary<unknown>, (given, value) => {
        const one = { ...given, powBits: 0 }
        const other: BurnTerms = { ...one, [name]: value }
        fc.pre(String(one[name as keyof BurnTerms]) !== String(value))
        expect(burnAddressAt(deriveBurn(other), 0)).not.toBe(burnAddressAt(deriveBurn(one), 0))
      }),
      few,
    )
  })

  test('addresses of an epoch share the recipient hash, and nothing else of them is alike', () => {
    fc.assert(
      fc.property(terms, hex(32), epochs, (given, nonce, epoch) => {
        fc.pre(nonce !== given.challengeNonce)
        const one = deriveBurn({ ...given, epoch })
        const other = deriveBurn({ ...given, epoch, challengeNonce: nonce })
        expect(other.recipientHash).toBe(one.recipientHash)
        expect(other.tweak).toBe(one.tweak)
        expect(other.baseSecret).not.toBe(one.baseSecret)
        expect(deriveBurn(given).tweak).not.toBe(one.tweak)
        expect(deriveBurn(given).baseSecret).toBe(one.baseSecret)
      }),
    )
  })

  test.each(Object.entries({ ...changes, generation: fc.constantFrom(1, 2), epoch: epochs }))(
    'another %s gives another tweak of an epoch, unless it is the nonce',
    (name, values) => {
      fc.assert(
        fc.property(terms, epochs, values as fc.Arbitrary<unknown>, (given, epoch, value) => {
          const one: BurnTerms = { ...given, epoch }
          fc.pre(JSON.stringify(one[name as keyof BurnTerms]) !== JSON.stringify(value))
          const isSame = deriveBurn({ ...one, [name]: value }).tweak === deriveBurn(one).tweak
          expect(isSame).toBe(name === 'challengeNonce')
        }),
        few,
      )
    },
  )

  test('two ledgers of one treasury share no recipient hash, though their epochs begin in the same second', () => {
    fc.assert(
      fc.property(terms, ledgers, ledgers, fc.nat(), (given, ledger, other, start) => {
        fc.pre(ledger !== other)
        const hashOf = (id: string) => deriveBurn({ ...given, epoch: { ledger: id, start } }).recipientHash
        expect(hashOf(ledger)).not.toBe(hashOf(other))
      }),
      few,
    )
  })

  test('an epoch is a number of seconds', () => {
    const given = { generation: 2, powBits: 0, chainId: 1, treasury: hexOf(new Uint8Array(20)) } as const
    const secrets = { seed: new Uint8Array(32), challengeNonce: hexOf(new Uint8Array(32)) }
    const ledger = '00'.repeat(16)
    for (const start of [-1, 0.5, 2 ** 53]) {
      const epoch = { ledger, start }
      expect(() => deriveBurn({ ...given, ...secrets, epoch })).toThrow('expected an epoch as unix seconds')
    }
    // Pinned: another derivation would lose every address of an epoch that was issued.
    expect(deriveBurn({ ...given, ...secrets, epoch: { ledger, start: 1_763_251_200 } }).tweak).toBe(
      '0x7a3191b21839ffb3a2357e00a11270680cb816400b7a56696d4a3408ddf95be4',
    )
  })

  test('a treasury written in another case is the same treasury', () => {
    const given: BurnTerms = {
      generation: 2,
      powBits: 0,
      chainId: 1,
      treasury: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      seed: new Uint8Array(32),
      challengeNonce: hexOf(new Uint8Array(32)),
    }
    expect(deriveBurn({ ...given, treasury: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' })).toEqual(
      deriveBurn(given),
    )
  })

  test.each<[string, Partial<BurnTerms>]>([
    ['a short nonce', { challengeNonce: '0x00' }],
    ['a nonce that is not hex', { challengeNonce: `0x${'zz'.repeat(32)}` }],
    ['a short seed', { seed: new Uint8Array(31) }],
    ['a treasury of 32 bytes', { treasury: hexOf(new Uint8Array(32)) }],
    ['chain 0', { chainId: 0 }],
    ['a fractional chain', { chainId: 1.5 }],
    ['33 bits of work', { powBits: 33 }],
    ['negative work', { powBits: -1 }],
  ])('refuses %s', (_what, wrong) => {
    const right: BurnTerms = {
      generation: 2,
      powBits: 0,
      chainId: 1,
      treasury: hexOf(new Uint8Array(20)),
      seed: new Uint8Array(32),
      challengeNonce: hexOf(new Uint8Array(32)),
    }
    expect(deriveBurn(right).recipientHash).toBeGreaterThan(0n)
    expect(() => deriveBurn({ ...right, ...wrong })).toThrow()
  })
})

describe('proof of work', () => {
  const hashes = fc.bigInt({ min: 0n, max: (1n << 253n) - 1n })

  test('looks at exactly the bits above the address', () => {
    fc.assert(
      fc.property(hashes, fc.integer({ min: 0, max: 32 }), (hash, powBits) => {
        const window = ((1n << BigInt(powBits)) - 1n) << 160n
        const cleared = hash & ~window
        expect(checkPow(cleared, powBits)).toBe(true)
        expect(checkPow(hash, powBits)).toBe(hash === cleared)
        for (let bit = 160; bit < 160 + powBits; bit++) {
          expect(checkPow(cleared | (1n << BigInt(bit)), powBits)).toBe(false)
        }
        const neighbours = (1n << 159n) | (1n << BigInt(160 + powBits))
        expect(checkPow(cleared | neighbours, powBits)).toBe(true)
      }),
    )
  })

  test('the address is the low 160 bits', () => {
    fc.assert(
      fc.property(hashes, (hash) => {
        const address = addressOf(hash)
        expect(BigInt(address)).toBe(hash & ((1n << 160n) - 1n))
        expect(address).toBe(parseAddress(address))
      }),
    )
  })

  test('a search finds the first nonce that passes', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const { powNonce, payTo } = mineNow(given)
        const puzzle = deriveBurn(given)
        expect(parseAddress(payTo)).toBe(payTo)
        for (let earlier = 0; earlier < powNonce; earlier++) {
          expect(burnAddressAt(puzzle, earlier)).toBeUndefined()
        }
      }),
      few,
    )
  })

  test('a search in slices ends where one long search ends', () => {
    fc.assert(
      fc.property(terms, fc.integer({ min: 1, max: 7 }), (given, maxTries) => {
        const puzzle = deriveBurn(given)
        let [startNonce, found] = [0, findPowNonce(puzzle, { startNonce: 0, maxTries })]
        while (found === undefined) {
          startNonce += maxTries
          found = findPowNonce(puzzle, { startNonce, maxTries })
        }
        expect(found).toBe(mineNow(given).powNonce)
      }),
      few,
    )
  })

  test('secrets wrap around at the field prime', () => {
    const puzzle = { generation: 2, powBits: 0, recipientHash: 7n, baseSecret: fieldPrime - 1n } as const
    expect(secretAt(puzzle, 0)).toBe(fieldPrime - 1n)
    expect(secretAt(puzzle, 1)).toBe(0n)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 4 }), (before, powBits) => {
        const near = { ...puzzle, powBits, baseSecret: fieldPrime - BigInt(before) - 1n }
        const nonce = findPowNonce(near, { startNonce: 0, maxTries: 10_000 }) ?? -1
        expect(checkPow(burnHash(2, 7n, secretAt(near, nonce)), powBits)).toBe(true)
      }),
      few,
    )
  })
})

describe('the address of a nonce', () => {
  test('is another one for another nonce or generation, and none for what is no nonce', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const { powNonce, payTo } = mineNow(given)
        const at = (nonce: number, of = given) => burnAddressAt(deriveBurn(of), nonce)
        expect(at(powNonce)).toBe(payTo)
        expect(at(powNonce + 1)).not.toBe(payTo)
        expect([at(-1), at(powNonce + 0.5), at(Number.NaN)]).toEqual([undefined, undefined, undefined])
        expect(at(powNonce, { ...given, generation: given.generation === 1 ? 2 : 1 })).not.toBe(payTo)
      }),
      few,
    )
  })
})
