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
  /** Keeps the bytes for `keepMs`. Resolves when a restart would find them. A failure is the store's to report. */
  set(key: string, answer: Uint8Array, keepMs: number): Promise<void>
}

/** The default store. What it holds ends with the process. */
export function createMemoryAnswers(
  { bytesMax = answerLimits.bytesMax, answersMax = answerLimits.answersMax }: Partial<AnswerLimits> = {},
  clock: Pick<Clock, 'now'> = systemClock,
): AnswerStore {
  // Oldest first.
  const kept = new Map<string, { readonly answer: Uint8Array; readonly endsAtMs: number }>()
  let bytes = 0
  function forget(key: string): void {
    bytes -= kept.get(key)?.answer.length ?? 0
    kept.delete(key)
  }
  function forgetPast(): void {
    for (const [key, { endsAtMs }] of kept) {
      if (endsAtMs > clock.now() && bytes <= bytesMax && kept.size <= answersMax) break
      forget(key)
    }
  }
  return {
    async get(key) {
      forgetPast()
      return kept.get(key)?.answer
    },
    async set(key, answer, keepMs) {
      if (answer.length > bytesMax) return
      forget(key)
      kept.set(key, { answer, endsAtMs: clock.now() + keepMs })
      bytes += answer.length
      forgetPast()
    },
  }
}
