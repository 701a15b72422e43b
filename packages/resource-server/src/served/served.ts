/**
 * One payment, one answer, however often it is presented. While the first presentation of an offer is at work, others
 * wait for it. Once it was answered, the same payment gets the same bytes again. A payment that was accepted before its
 * handler ran is owed an answer until one below 500 is kept.
 *
 * The key is a hash of the whole payment with its seal: a caller with that text is the payer, or was told by the payer. A
 * permit's signatures alone become public when the burn is broadcast.
 */
import { createHash } from 'node:crypto'
import { type Clock, Json } from '@svc-zerc20/protocol'
import type { SettleResponse } from '@x402/core/types'
import { answerLimits, presentationLimits } from '../limits.js'
import { type AnswerStore, createMemoryAnswers } from './answer-store.js'

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
  /** The payment is accepted, and its handler runs next: from here on it is owed an answer. Never rejects. */
  accept(receipt: SettleResponse): Promise<void>
  /**
   * Lets the next presentation of the offer begin. An answer to an accepted payment is kept first. One of 500 or above is
   * a handler that failed: what is owed stays owed, and the handler may run again at once.
   */
  end(answer?: ServedAnswer): Promise<void>
  /**
   * The client is gone, and a handler may notice that and never end. The presentation then ends by itself, later, unless its
   * payment is accepted by then.
   */
  abandon(isAccepted: () => boolean): void
}

/** Of a request that presents no offer of ours: its answer is not kept. */
export const unkept: Presentation = { accept: async () => {}, end: async () => {}, abandon: () => {} }

export type Begun =
  /** With the receipt of an earlier presentation where the payment is owed an answer: it is not settled again. */
  | { readonly presentation: Presentation; readonly owed?: SettleResponse }
  | { readonly kept: ServedAnswer }
  /** Another presentation of the offer is still at work, here or at another instance. */
  | 'busy'
  /** The payment is owed an answer, but for another resource. */
  | 'owed_elsewhere'

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

/** What is owed for an accepted payment. Instances that share a store see by it that its handler is running. */
type Debt = {
  readonly owed: SettleResponse
  /** Until then the run is taken for alive. 0 when it has failed. */
  readonly runsUntilMs: number
}

type Kept = { readonly resource: string } & ({ readonly kept: ServedAnswer } | Debt)

/** What is remembered of accepted payments, in the store and, where that fails, in the memory of this process. */
function createRecords(answers: AnswerStore | 'none' | undefined, clock: Clock) {
  const own = createMemoryAnswers({}, clock)
  // What is owed is remembered also where no answer is.
  const store = answers === undefined || answers === 'none' ? own : answers

  async function put(key: string, bytes: Uint8Array, keepMs: number): Promise<boolean> {
    try {
      await store.set(key, bytes, keepMs)
      if (store !== own) await own.set(key, nothing, 0)
      return true
    } catch {
      return false
    }
  }

  async function owe(key: string, bytes: Uint8Array): Promise<void> {
    if (!(await put(key, bytes, answerLimits.owedMs))) await own.set(key, bytes, answerLimits.owedMs)
  }

  return {
    read: async (key: string): Promise<Kept | undefined> =>
      decode((await own.get(key)) ?? (await store.get(key))),
    owe: ({ payment, resource }: PresentedText, debt: Debt): Promise<void> =>
      owe(keyOf(payment), encode({ resource: keyOf(resource), ...debt })),
    /** The payer is waiting, so an answer that could not be kept goes out all the same, and is owed no more. */
    async keep({ payment, resource }: PresentedText, { body, ...head }: ServedAnswer): Promise<void> {
      const key = keyOf(payment)
      const bytes = answers === 'none' ? nothing : encode({ resource: keyOf(resource), ...head }, body)
      if (!(await put(key, bytes, answerLimits.keptMs))) await owe(key, nothing)
    },
  }
}

export function createServed(answers: AnswerStore | 'none' | undefined, clock: Clock): Served {
  const records = createRecords(answers, clock)
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

  function hold(presented: PresentedText): Presentation {
    const { challengeNonce } = presented
    let debt: Debt | undefined
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
      accept(owed) {
        debt = { owed, runsUntilMs: clock.now() + answerLimits.keptMs }
        return records.owe(presented, debt)
      },
      async end(answer) {
        const open = debt
        debt = undefined
        if (answer !== undefined && answer.status < 500) await records.keep(presented, answer)
        // A run that took longer may have been followed by another, which is not ended here.
        else if (open !== undefined && clock.now() < open.runsUntilMs)
          await records.owe(presented, { ...open, runsUntilMs: 0 })
        if (held.get(challengeNonce) === mine) held.delete(challengeNonce)
        resolve()
      },
      abandon(isAccepted) {
        mine.abandoned = { endsAtMs: clock.now() + presentationLimits.abandonedMs, isAccepted }
      },
    }
  }

  /** What is remembered of the payment decides; a new run of its handler is noted before it begins. */
  async function look(presented: PresentedText, presentation: Presentation): Promise<Begun> {
    const record = await records.read(keyOf(presented.payment))
    const isSame = record?.resource === keyOf(presented.resource)
    if (record !== undefined && 'owed' in record) {
      if (!isSame) return 'owed_elsewhere'
      if (clock.now() < record.runsUntilMs) return 'busy'
      await presentation.accept(record.owed)
      return { presentation, owed: record.owed }
    }
    return record !== undefined && isSame ? { kept: record.kept } : { presentation }
  }

  return {
    async find(answerKey, resource) {
      const record = await records.read(answerKey)
      return record && 'kept' in record && record.resource === keyOf(resource)
        ? uncached(record.kept)
        : undefined
    },
    async begin(presented) {
      const presentation = await takeUp(presented)
      if (presentation === undefined) return 'busy'
      let begun: Begun | undefined
      try {
        begun = await look(presented, presentation)
        return begun
      } finally {
        if (typeof begun !== 'object' || 'kept' in begun) await presentation.end()
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

const keyOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Of a payment that was answered, with an answer that is not kept. */
const nothing = new Uint8Array()

/** A line of JSON, then the body. */
const encode = (head: Json.JsonObject, body: Uint8Array = nothing): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])

/** The kept answer or what is owed, and the hash of what it is for. */
function decode(bytes: Uint8Array | undefined): Kept | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined
  const end = bytes.indexOf(10)
  const head: unknown = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString('utf8'))
  if (!Json.isObject(head)) return undefined
  if (Json.isObject(head.owed)) return head as unknown as Kept
  const { resource, status, headers } = head as unknown as ServedAnswer & { readonly resource: string }
  return { resource, kept: { status, headers, body: bytes.subarray(end + 1) } }
}
