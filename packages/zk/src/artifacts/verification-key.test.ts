import { describe, expect, it } from 'vitest'
import type { Hex } from '../hex.js'
import { type G2, isForgeable, type VerificationKey } from './verification-key.js'

const fieldOrder = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

// Multiples of the generators: three, five and minus three.
const three: G2 = [
  '0x1014772f57bb9742735191cd5dcfe4ebbc04156b6878a0a7c9824f32ffb66e85',
  '0x06064e784db10e9051e52826e192715e8d7e478cb09a5e0012defa0694fbc7f5',
  '0x021e2335f3354bb7922ffcc2f38d3323dd9453ac49b55441452aeaca147711b2',
  '0x058e1d5681b5b9e0074b0f9c8d2c68a069b920d74521e79765036d57666c5597',
]
const five: G2 = [
  '0x0a09ccf561b55fd99d1c1208dee1162457b57ac5af3759d50671e510e428b2a1',
  '0x2e539c423b302d13f4e5773c603948eaf5db5df8ae8a9a9113708390a06410d8',
  '0x19b763513924a736e4eebd0d78c91c1bc1d657fee4214057d21414011cfcc763',
  '0x2f8d9f9ab83727c77a2fec063cb7b6e5eb23044ccf535ad49d46d394fb6f6bf6',
]
const minusThree: G2 = [three[0], three[1], minus(three[2]), minus(three[3])]
const one: readonly [Hex, Hex] = [word(1n), word(2n)]

describe('anybody can forge proofs under a key', () => {
  it.each([
    ['whose delta is gamma', three],
    ['whose delta is the opposite of gamma', minusThree],
    ['whose delta is gamma in other letters', [upper(three[0]), upper(three[1]), three[2], three[3]]],
  ] as const)('%s', (_, delta) => {
    expect(isForgeable(keyWith(delta))).toBe(true)
  })

  it('but not under one whose delta has another x, even when half of it is the same', () => {
    expect(isForgeable(keyWith(five))).toBe(false)
    expect(isForgeable(keyWith([three[0], five[1], five[2], five[3]]))).toBe(false)
    expect(isForgeable(keyWith([five[0], three[1], three[2], three[3]]))).toBe(false)
  })
})

function keyWith(delta: G2): VerificationKey {
  return { alpha: one, beta: five, gamma: three, delta, ic: [one, one] }
}

function minus(limb: Hex): Hex {
  return word(fieldOrder - BigInt(limb))
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function upper(limb: Hex): Hex {
  return `0x${limb.slice(2).toUpperCase()}`
}
