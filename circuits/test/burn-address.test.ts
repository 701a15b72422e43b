import { burnHash, checkPow, fieldPrime } from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inverse } from '../src/field.js'
import { createWorkshop, type TestCircuit, type Workshop } from './compiled.js'
import { expectTight, objections } from './honest.js'

const powBits = 8
const recipient = 123_456_789n
const shift = 160n + BigInt(powBits)
const addressMask = (1n << 160n) - 1n

/** The first secret whose hash is accepted. */
function secretWith(accepts: (hash: bigint) => boolean): { secret: bigint; hash: bigint } {
  for (let secret = 1n; ; secret++) {
    const hash = burnHash(2, recipient, secret)
    if (accepts(hash)) return { secret, hash }
  }
}

const { secret, hash } = secretWith((candidate) => checkPow(candidate, powBits))

describe('the burn address', () => {
  let workshop: Workshop
  let circuit: TestCircuit

  beforeAll(async () => {
    workshop = await createWorkshop()
    circuit = await workshop.circuit({
      include: 'burn-address.circom',
      component: `BurnAddress(${powBits})`,
      publicSignals: ['recipient'],
    })
  })
  afterAll(() => workshop.remove())

  it('is the low part of the hash', async () => {
    const witness = await circuit.witness({ recipient, secret })
    expect(witness[circuit.wire('address')]).toBe(hash & addressMask)
  })

  it('leaves nothing to choose', async () => {
    await expectTight(circuit, { recipient, secret })
  })

  it('refuses wrong proof-of-work bits, wherever they are put', async () => {
    const failing = secretWith((candidate) => !checkPow(candidate, powBits))
    const inputs = { recipient, secret: failing.secret }
    await expect(circuit.witness(inputs)).rejects.toThrow('BurnAddress')
    const address = failing.hash & addressMask
    const high = failing.hash >> shift
    const pow = (failing.hash >> 160n) & 0xffn
    // The surplus bits are dropped, moved into the address, or into the high part as a fraction.
    expect(objections(circuit, { ...inputs, address, high })).toBe(1)
    expect(objections(circuit, { ...inputs, address: address | (pow << 160n), high })).toBe(1)
    expect(
      objections(circuit, { ...inputs, address, high: (failing.hash - address) * inverse(1n << shift) }),
    ).toBeGreaterThan(0)
  })

  it('refuses an address over 160 bits', () => {
    const parts = { address: (hash & addressMask) + (1n << shift), high: (hash >> shift) - 1n }
    expect(objections(circuit, { recipient, secret, ...parts })).toBe(1)
  })

  it('refuses the same hash written with parts that exceed the prime', () => {
    // The hash plus the prime is the same field element, and may have zeros where the proof of work requires them.
    const aliased = secretWith(
      (candidate) => candidate + fieldPrime < 1n << 254n && checkPow(candidate + fieldPrime, powBits),
    )
    const whole = aliased.hash + fieldPrime
    const parts = { address: whole & addressMask, high: whole >> shift }
    expect(parts.address + (parts.high << shift)).toBe(whole)
    expect(objections(circuit, { recipient, secret: aliased.secret, ...parts })).toBe(1)
  })
})
