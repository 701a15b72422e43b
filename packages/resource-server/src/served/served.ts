/**
 * One payment, one answer, however often it is presented. While the first presentation of an offer is at work, others
 * wait for it. Once it was answered, the same payment gets the same bytes again.
 *
 * The key is a hash of the whole payment with its seal: a caller with that text is the payer, or was told by the payer. A
 * permit's signatures alone become public when the burn is broadcast.
 */
import { createHash } from 'node:crypto'
import { type Clock, Json } from '@svc-zerc20/protocol'
import { answerLimits, presentationLimits } from '../limits.js'
import type { AnswerStore } from './answer-store.js'

export type ServedAnswer = {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string | readonly string[]])[]
  readonly body: Uint8Array
}

export type PresentedText = {
  /** The nonce in the sealed offer: of the presentations of one offer, one is at work at a time. */
  readonly challengeNonce: string
  /** The payment as it came, with its seal. */
  readonly payment: string
  /** What is asked for. A kept answer is given for nothing else. */
  readonly resource: string
}

export type Presentation = {
  /** Lets the next presentation of the offer begin. With an answer, keeps it first. */
  end(answer?: ServedAnswer): Promise<void>
  /**
   * The client is gone, and a handler may notice that and never end. The presentation then ends by itself, later, unless its
   * payment is accepted by then.
   */
  abandon(isAccepted: () => boolean): void
}

/** Of a request that presents no offer of ours: its answer is not kept. */
export const unkept: Presentation = { end: async () => {}, abandon: () => {} }

export type Begun =
  | { readonly presentation: Presentation }
  | { readonly kept: ServedAnswer }
  /** Another presentation of the offer is still at work. */
  | 'busy'

export type Served = {
  begin(presented: PresentedText): Promise<Begun>
  /** The answer that is kept for this resource under a key. It is only shown again: the key pays for nothing. */
  find(answerKey: string, resource: string): Promise<ServedAnswer | undefined>
}

/** An answer key names a kept answer. The paywall's page puts it into a cookie, so that the browser can open it. */
const answerKeyPattern = /(?:^|;\s*)svc-paid=([A-Za-z0-9_-]{43})\s*(?:;|$)/

export const answerKeyIn = (cookies: string | undefined): string | undefined =>
  answerKeyPattern.exec(cookies ?? '')?.[1]

type Held = {
  readonly ended: Promise<void>
  readonly endsAtMs: number
  abandoned?: { readonly endsAtMs: number; readonly isAccepted: () => boolean }
}

const endOf = ({ endsAtMs, abandoned }: Held): number =>
  abandoned === undefined || abandoned.isAccepted() ? endsAtMs : Math.min(endsAtMs, abandoned.endsAtMs)

export function createServed(store: AnswerStore | undefined, clock: Clock): Served {
  const held = new Map<string, Held>()

  /** Undefined when the offer is still at work after the longest wait. Nothing is awaited between look and hold. */
  async function takeUp(presented: PresentedText): Promise<Presentation | undefined> {
    const waitsUntilMs = clock.now() + presentationLimits.waitMs
    for (;;) {
      const before = held.get(presented.challengeNonce)
      const nowMs = clock.now()
      if (before === undefined || endOf(before) <= nowMs) return hold(presented)
      const timer = new AbortController()
      const hasEnded = await Promise.race([
        before.ended.then(() => true),
        clock.sleep(Math.max(0, waitsUntilMs - nowMs), timer.signal).then(() => false),
      ])
      timer.abort()
      if (!hasEnded) return undefined
    }
  }

  function hold({ challengeNonce, payment, resource }: PresentedText): Presentation {
    let resolve = () => {}
    const ended = new Promise<void>((done) => {
      resolve = done
    })
    // Handlers that never ended are forgotten here.
    for (const [nonce, each] of held) {
      if (endOf(each) > clock.now()) break
      held.delete(nonce)
    }
    const mine: Held = { ended, endsAtMs: clock.now() + answerLimits.keptMs }
    held.set(challengeNonce, mine)
    return {
      async end(answer) {
        if (answer !== undefined) {
          // The payer is waiting, so an answer that could not be kept goes out all the same.
          await store?.set(keyOf(payment), encode(resource, answer), answerLimits.keptMs).catch(() => {})
        }
        if (held.get(challengeNonce) === mine) held.delete(challengeNonce)
        resolve()
      },
      abandon(isAccepted) {
        mine.abandoned = { endsAtMs: clock.now() + presentationLimits.abandonedMs, isAccepted }
      },
    }
  }

  return {
    async find(answerKey, resource) {
      const kept = await store?.get(answerKey)
      const answer = kept && decode(kept, resource)
      return answer && uncached(answer)
    },
    async begin(presented) {
      const presentation = await takeUp(presented)
      if (presentation === undefined) return 'busy'
      try {
        const kept = await store?.get(keyOf(presented.payment))
        const answer = kept && decode(kept, presented.resource)
        if (answer === undefined) return { presentation }
        await presentation.end()
        return { kept: answer }
      } catch (error) {
        await presentation.end()
        throw error
      }
    },
  }
}

/** A cache would give it to everybody who asks for the address: what opens it is a cookie, and no cache looks at those. */
const uncached = ({ headers, ...answer }: ServedAnswer): ServedAnswer => ({
  ...answer,
  headers: [
    ...headers.filter(([name]) => name.toLowerCase() !== 'cache-control'),
    ['cache-control', 'no-store'],
  ],
})

const keyOf = (payment: string): string => createHash('sha256').update(payment).digest('base64url')

/** A line of JSON, then the body. */
function encode(resource: string, { status, headers, body }: ServedAnswer): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ resource, status, headers })}\n`), body])
}

function decode(bytes: Uint8Array, resource: string): ServedAnswer | undefined {
  const end = bytes.indexOf(10)
  const head: unknown = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString('utf8'))
  if (!Json.isObject(head) || head.resource !== resource) return undefined
  const { status, headers } = head as unknown as ServedAnswer
  return { status, headers, body: bytes.subarray(end + 1) }
}
