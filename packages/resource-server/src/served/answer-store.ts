/**
 * Served answers of accepted payments, kept for a while. The facilitator's grant ends at this server: a connection that
 * breaks between here and the payer would otherwise have bought nothing. Kept bytes are opaque to a store, so that any
 * cache with a time to live can be one.
 */
import type { Clock } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type AnswerLimits, answerLimits } from '../limits.js'

export type AnswerStore = {
  /** The bytes that were kept under this key. A rejection is answered with 503, and the payer comes again. */
  get(key: string): Promise<Uint8Array | undefined>
  /**
   * Keeps the bytes for `keepMs`, in place of others under this key. Resolves when a restart would find them. A failure
   * is the store's to report.
   */
  set(key: string, answer: Uint8Array, keepMs: number): Promise<void>
}

type Kept = { readonly answer: Uint8Array; readonly endsAtMs: number }

/** Pause between two looks for what has ended. */
const sweepMs = 60_000

/** The default store. What it holds ends with the process. */
export function createMemoryAnswers(
  { bytesMax = answerLimits.bytesMax, answersMax = answerLimits.answersMax }: Partial<AnswerLimits> = {},
  clock: Pick<Clock, 'now'> = systemClock,
): AnswerStore {
  // On each shelf those set first are first. What is kept for longer goes last: others' answers never push out what is owed.
  const [answers, owed] = [new Map<string, Kept>(), new Map<string, Kept>()]
  const shelves = [answers, owed]
  let bytes = 0
  let sweepsAtMs = 0
  function forget(key: string): void {
    for (const shelf of shelves) {
      bytes -= shelf.get(key)?.answer.length ?? 0
      shelf.delete(key)
    }
  }
  function forgetPast(): void {
    const nowMs = clock.now()
    if (nowMs >= sweepsAtMs) {
      sweepsAtMs = nowMs + sweepMs
      for (const shelf of shelves) for (const [key, { endsAtMs }] of shelf) if (endsAtMs <= nowMs) forget(key)
    }
    for (const shelf of shelves)
      for (const key of shelf.keys()) {
        if (bytes <= bytesMax && answers.size + owed.size <= answersMax) return
        forget(key)
      }
  }
  return {
    async get(key) {
      forgetPast()
      const found = answers.get(key) ?? owed.get(key)
      return found && found.endsAtMs > clock.now() ? found.answer : undefined
    },
    async set(key, answer, keepMs) {
      forget(key)
      if (answer.length > bytesMax || keepMs <= 0) return
      const shelf = keepMs > answerLimits.keptMs ? owed : answers
      shelf.set(key, { answer, endsAtMs: clock.now() + keepMs })
      bytes += answer.length
      forgetPast()
    },
  }
}
