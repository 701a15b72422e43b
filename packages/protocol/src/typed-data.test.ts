import fc from 'fast-check'
import { hashTypedData, domainSeparator as viemDomainSeparator } from 'viem'
import { describe, expect, it } from 'vitest'
import { chainId, hexOf, uint256 } from '../test/arbitrary.js'
import type { Address, BaseUnits, ChallengeNonce } from './brand.js'
import * as TypedData from './typed-data.js'

const address = hexOf(20).map((text) => text.toLowerCase() as Address)
const units = uint256.map((value) => value as BaseUnits)
const nonce = hexOf(32).map((text) => text.toLowerCase() as ChallengeNonce)

const permitMessage = fc.record({
  owner: address,
  spender: address,
  value: units,
  nonce: units,
  deadline: units,
})
const burnMessage = fc.record({
  token: address,
  payer: address,
  burnAddress: address,
  value: units,
  challengeNonce: nonce,
  deadline: units,
})

describe('Permit', () => {
  it('R-035 has the type of EIP-2612', () => {
    expect(TypedData.permitType).toBe(
      'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
    )
  })

  it('R-035 has the token as its domain: name(), version 1, chain id, asset', () => {
    const token = `0x${'ab'.repeat(20)}` as Address
    expect(TypedData.permitDomain('Private Dollar', 31337, token)).toEqual({
      name: 'Private Dollar',
      version: '1',
      chainId: 31337,
      verifyingContract: token,
    })
  })

  it('R-035 hashes any message under any token name as viem does', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        chainId,
        address,
        permitMessage,
        (name, id, token, message) => {
          const domain = TypedData.permitDomain(name, id, token)
          const separator = TypedData.domainSeparator(domain)
          expect(TypedData.digestToHex(separator)).toBe(viemDomainSeparator({ domain }))
          expect(TypedData.digestToHex(TypedData.permitDigest(separator, message))).toBe(
            hashTypedData(TypedData.permitTypedData(domain, message)),
          )
        },
      ),
    )
  })
})

describe('BurnAuthorization', () => {
  it('R-036 has the type that binds token, payer, burn address, value, nonce and deadline', () => {
    expect(TypedData.burnAuthorizationType).toBe(
      'BurnAuthorization(address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline)',
    )
  })

  it('R-036 has the helper as its domain: SvcPermitBurner, version 1, chain id, helper', () => {
    const helper = `0x${'cd'.repeat(20)}` as Address
    expect(TypedData.burnAuthorizationDomain(31337, helper)).toEqual({
      name: 'SvcPermitBurner',
      version: '1',
      chainId: 31337,
      verifyingContract: helper,
    })
  })

  it('R-036 hashes any message as viem does', () => {
    fc.assert(
      fc.property(chainId, address, burnMessage, (id, helper, message) => {
        const domain = TypedData.burnAuthorizationDomain(id, helper)
        const separator = TypedData.domainSeparator(domain)
        expect(TypedData.digestToHex(separator)).toBe(viemDomainSeparator({ domain }))
        expect(TypedData.digestToHex(TypedData.burnAuthorizationDigest(separator, message))).toBe(
          hashTypedData(TypedData.burnAuthorizationTypedData(domain, message)),
        )
      }),
    )
  })

  it('R-036 changes its digest with every field', () => {
    fc.assert(
      fc.property(burnMessage, burnMessage, (a, b) => {
        const separator = new Uint8Array(32)
        const base = TypedData.digestToHex(TypedData.burnAuthorizationDigest(separator, a))
        for (const key of Object.keys(a) as (keyof typeof a)[]) {
          if (a[key] === b[key]) continue
          const changed = TypedData.burnAuthorizationDigest(separator, { ...a, [key]: b[key] })
          expect(TypedData.digestToHex(changed)).not.toBe(base)
        }
      }),
    )
  })
})

it('R-035 R-036 the type strings and the field lists that wallets get say the same', () => {
  const { Permit } = TypedData.permitTypes
  const { BurnAuthorization } = TypedData.burnAuthorizationTypes
  expect(typeString('Permit', Permit)).toBe(TypedData.permitType)
  expect(typeString('BurnAuthorization', BurnAuthorization)).toBe(TypedData.burnAuthorizationType)
})

function typeString(
  name: string,
  fields: readonly { readonly name: string; readonly type: string }[],
): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join()})`
}
