import assert from 'node:assert/strict'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils'

/** 0x-prefixed hexadecimal text. */
export type Hex = `0x${string}`

/** Lower-case 0x text of the bytes. */
export function hexOf(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}

/** The bytes of a 0x text that must be exactly `length` bytes long. The message never shows the text. */
export function bytesOf(hex: Hex, length: number): Uint8Array {
  assert(/^0x[0-9a-fA-F]*$/.test(hex) && hex.length === 2 + 2 * length, `expected ${length} bytes of 0x hex`)
  return hexToBytes(hex.slice(2))
}

/** Big-endian bytes of an unsigned integer that must fit into `length` bytes. */
export function bigEndian(value: bigint, length: number): Uint8Array {
  assert(value >= 0n && value < 1n << BigInt(8 * length), `expected an unsigned integer of ${length} bytes`)
  return hexToBytes(value.toString(16).padStart(2 * length, '0'))
}

/** The unsigned integer in big-endian bytes. */
export function integerOf(bytes: Uint8Array): bigint {
  return BigInt(hexOf(bytes))
}
