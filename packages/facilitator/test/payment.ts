/** A payer written from the protocol text alone: plain viem, none of our packages. */
import type { Address, Hex } from 'viem'
import { parseSignature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { burnAuthorizationTypes, permitTypes } from '../../../test/support/typed-data.js'

/** Answer of `POST /challenge`. */
export type ChallengeOffer = {
  payTo: Address
  amount: string
  token: Address
  chainId: number
  challengeNonce: Hex
  expiresAt: number
  helper?: Address
  deadline?: number
  fee?: { amount: string; bps: number }
}

/** Changes to the values that a payer signs. */
export type PermitChanges = {
  tokenName?: string
  chainId?: number
  token?: Address
  payTo?: Address
  challengeNonce?: Hex
  permitHelper?: Address
  burnHelper?: Address
  value?: bigint
  nonce?: bigint
  deadline?: bigint
  burnDeadline?: bigint
  burnSigner?: PrivateKeyAccount
  payer?: Address
}

export type PermitPayload = {
  challengeNonce: Hex
  payer: Address
  permit: { value: string; nonce: string; deadline: string; v: number; r: Hex; s: Hex }
  burnAuthSig: Hex
}

export async function signPermit(
  offer: ChallengeOffer,
  account: PrivateKeyAccount,
  terms: PermitChanges & { tokenName: string; nonce: bigint },
): Promise<PermitPayload> {
  const helper = offer.helper ?? '0x000000000000000000000000000000000000dEaD'
  const chainId = terms.chainId ?? offer.chainId
  const token = terms.token ?? offer.token
  const value = terms.value ?? BigInt(offer.amount)
  const deadline = terms.deadline ?? BigInt(offer.deadline ?? offer.expiresAt)
  const payer = terms.payer ?? account.address
  const permitSignature = await account.signTypedData({
    domain: { name: terms.tokenName, version: '1', chainId, verifyingContract: token },
    types: permitTypes,
    primaryType: 'Permit',
    message: { owner: payer, spender: terms.permitHelper ?? helper, value, nonce: terms.nonce, deadline },
  })
  const burnAuthSig = await (terms.burnSigner ?? account).signTypedData({
    domain: {
      name: 'SvcPermitBurner',
      version: '1',
      chainId,
      verifyingContract: terms.burnHelper ?? helper,
    },
    types: burnAuthorizationTypes,
    primaryType: 'BurnAuthorization',
    message: {
      token,
      payer,
      burnAddress: terms.payTo ?? offer.payTo,
      value,
      challengeNonce: terms.challengeNonce ?? offer.challengeNonce,
      deadline: terms.burnDeadline ?? deadline,
    },
  })
  const { r, s, yParity } = parseSignature(permitSignature)
  return {
    challengeNonce: offer.challengeNonce,
    payer,
    permit: { value: `${value}`, nonce: `${terms.nonce}`, deadline: `${deadline}`, v: 27 + yParity, r, s },
    burnAuthSig,
  }
}

/** The offer as a resource server puts it into its 402. */
function requirementsOf(offer: ChallengeOffer) {
  const { challengeNonce, expiresAt, helper, deadline, fee } = offer
  return {
    scheme: 'svc-zerc20',
    network: `eip155:${offer.chainId}`,
    asset: offer.token,
    amount: offer.amount,
    payTo: offer.payTo,
    maxTimeoutSeconds: 300,
    extra: { challengeNonce, expiresAt, helper, deadline, ...(fee && { fee }) },
  }
}

/** Body of `/verify` and `/settle`; `changes` are laid over the requirements. */
export function bodyOf(offer: ChallengeOffer, payload: object, changes: object = {}) {
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirementsOf(offer), payload },
    paymentRequirements: { ...requirementsOf(offer), ...changes },
  }
}

const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same message: s mirrored at the order, parity flipped. */
export function mirrored({ r, s, v }: { r: Hex; s: Hex; v: number }): { r: Hex; s: Hex; v: number } {
  const high = (secp256k1Order - BigInt(s)).toString(16).padStart(64, '0')
  return { r, s: `0x${high}`, v: v === 27 ? 28 : 27 }
}

export const joinSignature = ({ r, s, v }: { r: Hex; s: Hex; v: number }): Hex =>
  `${r}${s.slice(2)}${v.toString(16).padStart(2, '0')}`

export const splitSignature = (signature: Hex) => ({
  r: signature.slice(0, 66) as Hex,
  s: `0x${signature.slice(66, 130)}` as Hex,
  v: Number.parseInt(signature.slice(130), 16),
})

/** The permit burner's argument for one burn, which anyone can build from the payer's signatures. */
export function burnRequestOf(offer: ChallengeOffer, { payer, permit, burnAuthSig }: PermitPayload) {
  return {
    authorization: {
      token: offer.token,
      payer,
      burnAddress: offer.payTo,
      value: BigInt(offer.amount),
      challengeNonce: offer.challengeNonce,
      deadline: BigInt(permit.deadline),
    },
    v: permit.v,
    r: permit.r,
    s: permit.s,
    burnAuthSig,
  }
}
