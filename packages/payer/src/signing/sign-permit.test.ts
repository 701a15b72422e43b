import { Payload } from '@svc-zerc20/protocol'
import { concatHex, type Hex, recoverTypedDataAddress, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { burnAuthorizationTypes, permitTypes } from '../../../../test/support/typed-data.js'
import { address, bytes32, offerAt } from '../../test/offers.js'
import { type PermitOffer, readOffer } from '../offer.js'
import { grant, termsHash } from '../policy/permission.js'
import { type PermitSigner, signPermit } from './sign-permit.js'

const now = 1_700_000_000
const account = privateKeyToAccount(generatePrivateKey())
const facts = { tokenName: 'Zed Dollar', nonce: 7n, balance: 9_000_000n }

async function signed(signer: PermitSigner = account) {
  const offer = readOffer(2, offerAt(now)) as PermitOffer
  const payer = account.address.toLowerCase() as never
  const permission = grant(offer.challengeNonce, termsHash(payer, 'permit', offer))
  const wire = await signPermit(signer, payer, offer, facts, { permission, signing: async () => undefined })
  const parsed = Payload.parse(JSON.parse(JSON.stringify(wire)))
  if (!parsed.ok || parsed.value.kind !== 'permit') throw new Error('not a permit payload')
  return { wire, payload: parsed.value }
}

describe('the permit payload', () => {
  it('R-024 has all fields of shape A and no other', async () => {
    const { wire } = await signed()
    expect(Object.keys(wire).sort()).toEqual(['burnAuthSig', 'challengeNonce', 'payer', 'permit'])
    expect(wire.burnAuthSig).toMatch(/^0x[0-9a-f]{130}$/)
    expect(Object.keys(wire.permit as object).sort()).toEqual(['deadline', 'nonce', 'r', 's', 'v', 'value'])
  })

  it('R-025 R-038 carries the quoted amount and the deadline of the offer exactly', async () => {
    const { wire } = await signed()
    expect(wire.permit).toMatchObject({ value: '1000', nonce: '7', deadline: `${now + 300}` })
  })

  it('R-035 has a permit that recovers to the payer under the domain of the token', async () => {
    const { v, r, s } = (await signed()).payload.permit
    const signer = await recoverTypedDataAddress({
      domain: { name: 'Zed Dollar', version: '1', chainId: 31_337, verifyingContract: address(1) },
      types: permitTypes,
      primaryType: 'Permit',
      message: {
        owner: account.address,
        spender: address(3),
        value: 1000n,
        nonce: 7n,
        deadline: BigInt(now + 300),
      },
      signature: concatHex([r, s, toHex(v)]),
    })
    expect(signer).toBe(account.address)
  })

  it('R-036 R-038 has a burn authorization that recovers to the payer under the domain of the helper', async () => {
    const signer = await recoverTypedDataAddress({
      domain: { name: 'SvcPermitBurner', version: '1', chainId: 31_337, verifyingContract: address(3) },
      types: burnAuthorizationTypes,
      primaryType: 'BurnAuthorization',
      message: {
        token: address(1),
        payer: account.address,
        burnAddress: address(2),
        value: 1000n,
        challengeNonce: bytes32(1),
        deadline: BigInt(now + 300),
      },
      signature: (await signed()).payload.burnAuthSig,
    })
    expect(signer).toBe(account.address)
  })

  it('has a recovery byte of 27 or 28 also from signers that write 0 or 1', async () => {
    const raw: PermitSigner = {
      async signTypedData(data: Parameters<typeof account.signTypedData>[0]) {
        const signature = await account.signTypedData(data)
        const v = Number.parseInt(signature.slice(-2), 16) - 27
        return `${signature.slice(0, -2)}0${v}` as Hex
      },
    } as PermitSigner
    expect((await signed(raw)).wire).toEqual((await signed()).wire)
  })

  it('is not made from the signature of a contract wallet', async () => {
    const wallet = { signTypedData: async () => `0x${'ab'.repeat(200)}` as Hex } as PermitSigner
    await expect(signed(wallet)).rejects.toMatchObject({ code: 'signature_unusable' })
  })
})
