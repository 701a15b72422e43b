/** The three x402 v2 headers: base64 of UTF-8 JSON. */
import { nestsWithin } from './json.js'
import { accept, type Result, reject } from './reasons.js'

export const paymentRequired = 'PAYMENT-REQUIRED'
export const paymentSignature = 'PAYMENT-SIGNATURE'
export const paymentResponse = 'PAYMENT-RESPONSE'

/** Larger than any payment, smaller than the header limit of HTTP servers. */
export const headerCharsMax = 65_536

// The padding is optional, because the official decoders accept headers without it.
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

export function encode(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Reads a header value. The message says whether base64, UTF-8 or JSON was bad. */
export function decode(text: unknown): Result<unknown> {
  if (typeof text !== 'string' || text.length === 0) return reject('malformed_request', 'the header is empty')
  if (text.length > headerCharsMax) return reject('malformed_request', 'the header is too long')
  if (!base64Pattern.test(text)) return reject('malformed_request', 'the header is not base64')
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  let json: string
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return reject('malformed_request', 'the header is not UTF-8')
  }
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return reject('malformed_request', 'the header is not JSON')
  }
  return nestsWithin(value) ? accept(value) : reject('malformed_request', 'the header nests too deep')
}
