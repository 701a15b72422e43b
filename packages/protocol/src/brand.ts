/**
 * Branded primitives. A brand is made only by its parser, so two `0x` strings or two amounts
 * cannot be swapped by mistake and nothing inside needs to be checked a second time.
 */
import { keccak_256 } from '@noble/hashes/sha3'
import { utf8ToBytes } from '@noble/hashes/utils'

declare const tag: unique symbol
type Brand<T, Name extends string> = T & { readonly [tag]: Name }

type HexString = `0x${string}`

/** Any even-length hex string, lower case. */
export type Hex = Brand<HexString, 'Hex'>
/** A 20-byte address in its canonical form: lower case. `toChecksum` writes it for people. */
export type Address = Brand<HexString, 'Address'>
/** 32 bytes chosen by the facilitator that bind an offer to one payment. */
export type ChallengeNonce = Brand<HexString, 'ChallengeNonce'>
/** Hash of a transaction. */
export type TxHash = Brand<HexString, 'TxHash'>
/** Any other 32-byte value. */
export type Bytes32 = Brand<HexString, 'Bytes32'>
/** 65 bytes r ‖ s ‖ v. */
export type Signature = Brand<HexString, 'Signature'>
/** An unsigned 256-bit number of the token's smallest unit. */
export type BaseUnits = Brand<bigint, 'BaseUnits'>
/** Whole seconds since 1970. */
export type UnixSeconds = Brand<number, 'UnixSeconds'>

/** Token values are bounded by what a transfer leaf can hold. */
export const amountLimit = 2n ** 248n
const uint256Limit = 2n ** 256n

const hexPattern = (bytes: number) => new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`)
const pattern20 = hexPattern(20)
const pattern32 = hexPattern(32)
const pattern65 = hexPattern(65)
const anyHex = /^0x(?:[0-9a-fA-F]{2})*$/
// At most 78 digits, as 2^256 has. Without the bound a caller could make BigInt parsing take quadratic time.
const decimalPattern = /^(?:0|[1-9]\d{0,77})$/

const parseHexOf = (pattern: RegExp, text: unknown): string | undefined =>
  typeof text === 'string' && pattern.test(text) ? text.toLowerCase() : undefined

export const parseHex = (text: unknown) => parseHexOf(anyHex, text) as Hex | undefined
export const parseAddress = (text: unknown) => parseHexOf(pattern20, text) as Address | undefined
/** The zero address: means "none" in calls, offers and logs, and is the sender of a mint. */
export const zeroAddress = `0x${'0'.repeat(40)}` as Address
export const parseChallengeNonce = (text: unknown) =>
  parseHexOf(pattern32, text) as ChallengeNonce | undefined
export const parseTxHash = (text: unknown) => parseHexOf(pattern32, text) as TxHash | undefined
export const parseBytes32 = (text: unknown) => parseHexOf(pattern32, text) as Bytes32 | undefined
export const parseSignature = (text: unknown) => parseHexOf(pattern65, text) as Signature | undefined

/** Order of the curve secp256k1: every private key is below it. */
export const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Reads the private key of an account: 64 hex digits, with or without 0x, within the range of the curve. */
export function parseAccountKey(text: unknown): HexString | undefined {
  const key = typeof text === 'string' ? parseBytes32(/^0x/i.test(text) ? text : `0x${text}`) : undefined
  const number = BigInt(key ?? 0)
  return number > 0n && number < secp256k1Order ? key : undefined
}

/** Reads a plain decimal integer below 2^256: no sign, no exponent, no leading zero, no hex. */
export function parseBaseUnits(text: unknown): BaseUnits | undefined {
  if (typeof text !== 'string' || !decimalPattern.test(text)) return undefined
  const value = BigInt(text)
  return value < uint256Limit ? (value as BaseUnits) : undefined
}

/** Reads an amount that can be burned: positive and below 2^248. */
export function parseAmount(text: unknown): BaseUnits | undefined {
  const value = parseBaseUnits(text)
  return value !== undefined && value > 0n && value < amountLimit ? value : undefined
}

export function parseUnixSeconds(value: unknown): UnixSeconds | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? (value as UnixSeconds)
    : undefined
}

/** Keccak-256. A program that hashes for every request gives a quicker one than this package has. */
export type Keccak = (message: Uint8Array) => Uint8Array

/** EIP-55 mixed-case form of an address. */
export function toChecksum(address: Address, keccak: Keccak = keccak_256): HexString {
  const digits = address.slice(2)
  const hash = keccak(utf8ToBytes(digits))
  let out = '0x'
  for (const [i, digit] of [...digits].entries()) {
    const nibble = ((hash[i >> 1] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 0xf
    out += nibble >= 8 ? digit.toUpperCase() : digit
  }
  return out as HexString
}
