/**
 * The two EIP-712 messages of the gasless path. `…TypedData` is the message that a wallet signs. `…Digest` computes its
 * hash directly from bytes, which is faster, because the facilitator does it for every request.
 */
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils'
import type { Address, BaseUnits, ChallengeNonce, Keccak } from './brand.js'

export const permitType = 'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'
export const burnAuthorizationType =
  'BurnAuthorization(address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline)'
const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

/** Version of both domains. */
export const domainVersion = '1'
/** Domain name of the permit-burner helper. */
export const burnerName = 'SvcPermitBurner'

export type Domain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

export type PermitMessage = {
  readonly owner: Address
  readonly spender: Address
  readonly value: BaseUnits
  readonly nonce: BaseUnits
  readonly deadline: BaseUnits
}

export type BurnAuthorizationMessage = {
  readonly token: Address
  readonly payer: Address
  readonly burnAddress: Address
  readonly value: BaseUnits
  readonly challengeNonce: ChallengeNonce
  readonly deadline: BaseUnits
}

export const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

export const burnAuthorizationTypes = {
  BurnAuthorization: [
    { name: 'token', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'burnAddress', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'challengeNonce', type: 'bytes32' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

export function permitDomain(tokenName: string, chainId: number, token: Address): Domain {
  return { name: tokenName, version: domainVersion, chainId, verifyingContract: token }
}

export function burnAuthorizationDomain(chainId: number, helper: Address): Domain {
  return { name: burnerName, version: domainVersion, chainId, verifyingContract: helper }
}

export function permitTypedData(domain: Domain, message: PermitMessage) {
  return { domain, types: permitTypes, primaryType: 'Permit', message } as const
}

export function burnAuthorizationTypedData(domain: Domain, message: BurnAuthorizationMessage) {
  return { domain, types: burnAuthorizationTypes, primaryType: 'BurnAuthorization', message } as const
}

const typeHash = (type: string) => keccak_256(utf8ToBytes(type))
const permitTypeHash = bytesToHex(typeHash(permitType))
const burnAuthorizationTypeHash = bytesToHex(typeHash(burnAuthorizationType))
const domainTypeHash = typeHash(domainType)

/** Words of 32 bytes, as hex digits. */
const word = (hex: string) => hex.slice(2).padStart(64, '0')
const uint = (value: bigint | number) => value.toString(16).padStart(64, '0')

/** Hash of a domain. Constant for one token or helper, so callers compute it once. */
export function domainSeparator(domain: Domain): Uint8Array {
  return keccak_256(
    concatBytes(
      domainTypeHash,
      keccak_256(utf8ToBytes(domain.name)),
      keccak_256(utf8ToBytes(domain.version)),
      hexToBytes(uint(domain.chainId) + word(domain.verifyingContract)),
    ),
  )
}

const prefix = Uint8Array.of(0x19, 0x01)

const digest = (separator: Uint8Array, words: string, keccak: Keccak) =>
  keccak(concatBytes(prefix, separator, keccak(hexToBytes(words))))

export function permitDigest(
  separator: Uint8Array,
  message: PermitMessage,
  keccak: Keccak = keccak_256,
): Uint8Array {
  const { owner, spender, value, nonce, deadline } = message
  const words = permitTypeHash + word(owner) + word(spender) + uint(value) + uint(nonce) + uint(deadline)
  return digest(separator, words, keccak)
}

export function burnAuthorizationDigest(
  separator: Uint8Array,
  message: BurnAuthorizationMessage,
  keccak: Keccak = keccak_256,
): Uint8Array {
  const { token, payer, burnAddress, value, challengeNonce, deadline } = message
  const parties = word(token) + word(payer) + word(burnAddress)
  const words = burnAuthorizationTypeHash + parties + uint(value) + word(challengeNonce) + uint(deadline)
  return digest(separator, words, keccak)
}

export const digestToHex = (bytes: Uint8Array): `0x${string}` => `0x${bytesToHex(bytes)}`
