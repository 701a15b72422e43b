/** The challenge nonces in a log: of the daemon, or of a resource server that writes them. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type ChallengeNonce, parseChallengeNonce } from '@svc-zerc20/protocol'

/** Sellers name the field as they like, as long as the name ends so. */
const named = /nonce["']?\s*[:=]\s*["']?(0x[0-9a-f]{64})(?![0-9a-f])/gi

/** Each nonce once, in the order of the file. Lines may be JSON or not. Throws where the file cannot be read. */
export async function loggedNonces(file: string): Promise<readonly ChallengeNonce[]> {
  const nonces = new Set<ChallengeNonce>()
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    for (const [, text] of line.matchAll(named)) {
      const nonce = parseChallengeNonce(text?.toLowerCase())
      if (nonce !== undefined) nonces.add(nonce)
    }
  }
  return [...nonces]
}
