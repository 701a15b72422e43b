/** Tickets derive from the seed, so nothing is stored and every replica of one treasury gives the same ones. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Tickets } from '../payment/ports.js'

const domain = 'svc-zerc20/ticket/v1'
const ticketHexChars = 32

export function createTickets(seed: Uint8Array): Tickets {
  const of = (nonce: string) =>
    createHmac('sha256', seed).update(`${domain}:${nonce}`).digest('hex').slice(0, ticketHexChars)
  return {
    of,
    matches(nonce, given) {
      const [expected, candidate] = [Buffer.from(of(nonce)), Buffer.from(given)]
      // The length of a ticket is no secret.
      return candidate.length === expected.length && timingSafeEqual(candidate, expected)
    },
  }
}
