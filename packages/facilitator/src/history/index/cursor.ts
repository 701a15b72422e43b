/** A cursor names a place in an order and nothing else: a forged one gives another page of the same scope. */
import { isPlace, type Order, type Place } from './keys.js'

const orderBytes = { time: 1, amount: 2 } as const
const charsMax = 96

export const writeCursor = (order: Order, place: Place): string =>
  Buffer.concat([Buffer.of(orderBytes[order]), place]).toString('base64url')

export function readCursor(order: Order, text: string): Place | 'bad_cursor' {
  if (text.length > charsMax) return 'bad_cursor'
  const bytes = Buffer.from(text, 'base64url')
  // The decoder passes over characters that it does not know.
  if (bytes.toString('base64url') !== text || bytes[0] !== orderBytes[order]) return 'bad_cursor'
  const place = bytes.subarray(1)
  return isPlace(order, place) ? place : 'bad_cursor'
}
