/**
 * Nonces of login messages. A stranger costs no memory: a nonce proves by itself that this process made it for exactly
 * one message. Only nonces that were used are remembered, until they expire.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'

/** The message with something in the place of the nonce. */
type MessageWriter = (nonce: string) => string

const keyBytes = 32
const randomBytes = 12
const randomCharacters = randomBytes * 2
const macCharacters = 32

export function createLoginNonces(deps: {
  readonly random: { bytes(length: number): Uint8Array }
  readonly nowSeconds: () => UnixSeconds
  /**
   * Used nonces of one address that are remembered. When these are all fresh, the address gets in no more, because a replay
   * could not be told. Each address has its own, so that one participant cannot lock out the other.
   */
  readonly usedMax: number
}) {
  const key = deps.random.bytes(keyBytes)
  const used = new Map<string, { readonly expiresAt: UnixSeconds; readonly address: Address }>()

  const macOf = (random: string, write: MessageWriter) =>
    createHmac('sha256', key).update(write(random)).digest('hex').slice(0, macCharacters)

  function forgetExpired(): void {
    const now = deps.nowSeconds()
    for (const [nonce, { expiresAt }] of used) if (expiresAt <= now) used.delete(nonce)
  }

  function isFull(address: Address): boolean {
    let count = 0
    for (const login of used.values()) if (login.address === address) count += 1
    return count >= deps.usedMax
  }

  return {
    /** A fresh nonce for the message that `write` makes with it. */
    issue(write: MessageWriter): string {
      const random = Buffer.from(deps.random.bytes(randomBytes)).toString('hex')
      return random + macOf(random, write)
    },

    /** Whether `issue` made this nonce, in this process, for this message. */
    isOurs(nonce: string, write: MessageWriter): boolean {
      if (nonce.length !== randomCharacters + macCharacters) return false
      const [random, mac] = [nonce.slice(0, randomCharacters), nonce.slice(randomCharacters)]
      return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(random, write)))
    },

    /** Of several callers with one nonce, exactly one sees `taken`. `full` when too many of this address are remembered. */
    take(nonce: string, expiresAt: UnixSeconds, address: Address): 'taken' | 'used' | 'full' {
      if (used.has(nonce)) return 'used'
      if (used.size >= deps.usedMax) forgetExpired()
      if (isFull(address)) return 'full'
      used.set(nonce, { expiresAt, address })
      return 'taken'
    },

    /** Lets the nonce be used again: nobody got in with it. */
    giveBack: (nonce: string) => void used.delete(nonce),
  }
}
