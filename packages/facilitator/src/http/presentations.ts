/**
 * Room for payments that are presented. All customers of a shop come with its key, honest ones and others.
 * Requests for one challenge must not use up the room of the other challenges.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Caller } from './callers.js'
import type { RateLimits, Taken } from './rate-limit.js'

/** The ledger's word on a challenge. Awaited: not expired, and nobody was served for it yet. */
export type Standing = 'awaited' | 'known' | 'unknown'

export type Presented = {
  readonly nonce: ChallengeNonce
  /** The payment carries the ticket of its offer, so the challenge is known to be ours without a look. */
  readonly isTicketed: boolean
  /** Reads the ledger, which may be a round trip. Called only while a rate leaves room for a look. */
  look(): Promise<Standing>
}

export type Admission =
  /** Call `refused` when the payment turns out to be bad. */
  { readonly ok: true; refused(): Promise<void> } | { readonly ok: false; readonly retryAfterSeconds: number }

export type Presentations = {
  /** `presented` is absent when the request names no challenge. */
  admit(caller: Caller, presented: Presented | undefined): Promise<Admission>
}

/** Room taken for a challenge of ours: its own, or beyond that its caller's. */
type Room = 'sure' | 'further' | 'beyond'

export function createPresentations(deps: {
  /** Requests a minute that are looked at for each challenge, whatever else its caller sends. */
  readonly surePerMin: number
  /** Further ones, while the caller has room for them. */
  readonly furtherPerMin: number
  readonly rateLimits: RateLimits
}): Presentations {
  const sure = deps.rateLimits('challenge_sure', deps.surePerMin)
  const further = deps.rateLimits('challenge_further', deps.furtherPerMin)

  async function takeRoom({ key, rates }: Caller, nonce: ChallengeNonce): Promise<Room | Refused> {
    if ((await sure.take(nonce)) === 'ok') return 'sure'
    if ((await further.take(nonce)) === 'ok') return 'further'
    // The shared rate is not used: new customers get their challenges from it.
    const beyond = await rates.beyond.take(key)
    return beyond === 'ok' ? 'beyond' : beyond
  }

  /** Admits a payment for a challenge of ours. A challenge that is not awaited has no room of its own. */
  async function admitKnown(
    { key, rates }: Caller,
    standing: 'awaited' | 'known',
    room: Room,
  ): Promise<Admission> {
    if (room === 'beyond') return admitted
    if (standing === 'awaited') {
      // Good payments cost their caller nothing: a shop with many customers is not slowed down by them.
      if (room === 'sure') return { ok: true, refused: async () => void (await rates.known.take(key)) }
      if ((await rates.known.take(key)) === 'ok') return admitted
    }
    return admissionOf(await rates.beyond.take(key))
  }

  /** The ticket says that the challenge is ours, so its room is taken before the ledger is read. */
  async function admitTicketed(caller: Caller, { nonce, look }: Presented): Promise<Admission> {
    const room = await takeRoom(caller, nonce)
    if (typeof room === 'object') return { ok: false, ...room }
    const standing = await look()
    if (standing === 'unknown') return admissionOf(await caller.rates.shared.take(caller.key))
    return admitKnown(caller, standing, room)
  }

  async function admitUnticketed(caller: Caller, { nonce, look }: Presented): Promise<Admission> {
    const { key, rates } = caller
    const isBeyondRate = (await rates.shared.peek(key)) !== 'ok'
    const left = isBeyondRate ? await rates.misses.peek(key) : 'ok'
    if (left !== 'ok') return { ok: false, ...left }
    const standing = await look()
    if (standing === 'unknown') {
      if (isBeyondRate) await rates.misses.take(key)
      return admissionOf(await rates.shared.take(key))
    }
    if (standing === 'known') return admissionOf(await rates.beyond.take(key))
    const room = await takeRoom(caller, nonce)
    return typeof room === 'object' ? { ok: false, ...room } : admitKnown(caller, standing, room)
  }

  return {
    async admit(caller, presented) {
      if (!presented) return admissionOf(await caller.rates.shared.take(caller.key))
      return presented.isTicketed ? admitTicketed(caller, presented) : admitUnticketed(caller, presented)
    },
  }
}

type Refused = Exclude<Taken, 'ok'>

const admitted: Admission = { ok: true, refused: async () => undefined }

const admissionOf = (taken: Taken): Admission => (taken === 'ok' ? admitted : { ok: false, ...taken })
