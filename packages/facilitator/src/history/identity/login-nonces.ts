/**
 * Nonces of login messages. A stranger costs no memory: a nonce proves by itself that it was made here for exactly one
 * message. Only nonces that were used are remembered, until they expire.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The message with something in the place of the nonce. */
type MessageWriter = (nonce: string) => string

const randomBytes = 12
const randomCharacters = randomBytes * 2
const macCharacters = 32

/** All daemons with one key make and take the same nonces. */
export function createLoginNonces(deps: {
  readonly key: Uint8Array
  readonly random: { bytes(length: number): Uint8Array }
}) {
  const macOf = (random: string, write: MessageWriter) =>
    createHmac('sha256', deps.key).update(write(random)).digest('hex').slice(0, macCharacters)

  return {
    /** A fresh nonce for the message that `write` makes with it. */
    issue(write: MessageWriter): string {
      const random = Buffer.from(deps.random.bytes(randomBytes)).toString('hex')
      return random + macOf(random, write)
    },

    /** Whether `issue` made this nonce under this key for this message. */
    isOurs(nonce: string, write: MessageWriter): boolean {
      if (nonce.length !== randomCharacters + macCharacters) return false
      const [random, mac] = [nonce.slice(0, randomCharacters), nonce.slice(randomCharacters)]
      return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(random, write)))
    },
  }
}
