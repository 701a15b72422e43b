/** The vectors come from the real contracts, so a pass means that we sign exactly what they check. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Address, type BaseUnits, parseAddress, parseBaseUnits, parseChallengeNonce } from './brand.js'
import * as TypedData from './typed-data.js'

type Typed = {
  type: string
  domain: TypedData.Domain
  message: Record<string, string>
  domainSeparator: string
  digest: string
}

const file = new URL('../../../test/vectors/typed-data.json', import.meta.url)
const vectors: { name: string; permit: Typed; burnAuthorization: Typed }[] = JSON.parse(
  readFileSync(file, 'utf8'),
)

const address = (text: string | undefined) => parseAddress(text) as Address
const units = (text: string | undefined) => parseBaseUnits(text) as BaseUnits
const separator = ({ domain }: Typed) =>
  TypedData.domainSeparator({ ...domain, verifyingContract: address(domain.verifyingContract) })

describe('digests of the deployed contracts', () => {
  it.each(vectors)(
    'R-035 the token recovers the permit of $name from the digest we compute',
    ({ permit }) => {
      const { owner, spender, value, nonce, deadline } = permit.message
      expect(permit.type).toBe(TypedData.permitType)
      expect(TypedData.digestToHex(separator(permit))).toBe(permit.domainSeparator)
      const digest = TypedData.permitDigest(separator(permit), {
        owner: address(owner),
        spender: address(spender),
        value: units(value),
        nonce: units(nonce),
        deadline: units(deadline),
      })
      expect(TypedData.digestToHex(digest)).toBe(permit.digest)
    },
  )

  it.each(vectors)('R-036 the helper hashes the authorization of $name as we do', ({ burnAuthorization }) => {
    const { token, payer, burnAddress, value, challengeNonce, deadline } = burnAuthorization.message
    expect(burnAuthorization.type).toBe(TypedData.burnAuthorizationType)
    expect(burnAuthorization.domain.name).toBe(TypedData.burnerName)
    const nonce = parseChallengeNonce(challengeNonce)
    if (nonce === undefined) throw new Error('the vector has no challenge nonce')
    const digest = TypedData.burnAuthorizationDigest(separator(burnAuthorization), {
      token: address(token),
      payer: address(payer),
      burnAddress: address(burnAddress),
      value: units(value),
      challengeNonce: nonce,
      deadline: units(deadline),
    })
    expect(TypedData.digestToHex(digest)).toBe(burnAuthorization.digest)
  })
})
