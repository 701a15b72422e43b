/**
 * Room for payments that are presented. All customers of a shop come with its key, honest ones and others: what
 * somebody presents for one challenge must not use up the room of the other challenges.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import type { Caller } from './callers.js'
import { createRateLimit, type Taken } from './rate-limit.js'

/** What the ledger knows of a challenge. Awaited: not expired, and nobody was served for it yet. */
export type Standing = 'awaited' | 'known' | 'unknown'

export type Presented = {
  readonly nonce: ChallengeNonce
  /** It carries the ticket of its offer: the challenge is ours, and no look is needed to know. */
  readonly isTicketed: boolean
  /** Reads the ledger. Without a ticket it is asked only while the caller's rates leave room for a look. */
  look(): Promise<Standing>
}

export type Admission =
  /** `refused` is to be called when the payment turns out to be no good. */
  { readonly ok: true; refused(): void } | { readonly ok: false; readonly retryAfterSeconds: number }

export type Presentations = {
  /** `presented` is absent when the request names no challenge. */
  admit(caller: Caller, presented: Presented | undefined): Promise<Admission>
}

export function createPresentations(deps: {
  /** So many a minute are looked at for each challenge, whatever else its caller sends. */
  readonly surePerMin: number
  /** So many more while its caller has room for them. */
  readonly furtherPerMin: number
  readonly keysMax: number
  readonly clock: Clock
}): Presentations {
  const { keysMax, clock } = deps
  const sure = createRateLimit({ perMinute: deps.surePerMin, keysMax, clock })
  const further = createRateLimit({ perMinute: deps.furtherPerMin, keysMax, clock })

  return {
    async admit({ key, rates }, presented) {
      if (!presented) return admissionOf(rates.shared.take(key))
      const { nonce, isTicketed, look } = presented
      const isBeyondRate = !isTicketed && rates.shared.peek(key) !== 'ok'
      const room = isBeyondRate ? rates.misses.peek(key) : 'ok'
      if (room !== 'ok') return { ok: false, ...room }
      const standing = await look()
      if (standing === 'unknown') {
        if (isBeyondRate) rates.misses.take(key)
        return admissionOf(rates.shared.take(key))
      }
      if (standing === 'awaited') {
        // Good payments cost their caller nothing: a shop with many customers is not slowed down by them.
        if (sure.take(nonce) === 'ok') return { ok: true, refused: () => void rates.known.take(key) }
        if (further.take(nonce) === 'ok' && rates.known.take(key) === 'ok') return admitted
      }
      // Not the shared rate, from which new customers get their challenges.
      return admissionOf(rates.beyond.take(key))
    },
  }
}

const admitted: Admission = { ok: true, refused: () => undefined }

const admissionOf = (taken: Taken): Admission => (taken === 'ok' ? admitted : { ok: false, ...taken })
