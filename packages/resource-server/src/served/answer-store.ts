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

/** Pause between two looks for what has ended. */
const sweepMs = 60_000

/** The default store. What it holds ends with the process. */
export function createMemoryAnswers(
  { bytesMax = answerLimits.bytesMax, answersMax = answerLimits.answersMax }: Partial<AnswerLimits> = {},
  clock: Pick<Clock, 'now'> = systemClock,
): AnswerStore {
  // Those set first are first, whenever they end.
  const kept = new Map<string, { readonly answer: Uint8Array; readonly endsAtMs: number }>()
  let bytes = 0
  let sweepsAtMs = 0
  function forget(key: string): void {
    bytes -= kept.get(key)?.answer.length ?? 0
    kept.delete(key)
  }
  function forgetPast(): void {
    const nowMs = clock.now()
    if (nowMs >= sweepsAtMs) {
      sweepsAtMs = nowMs + sweepMs
      for (const [key, { endsAtMs }] of kept) if (endsAtMs <= nowMs) forget(key)
    }
    for (const key of kept.keys()) {
      if (bytes <= bytesMax && kept.size <= answersMax) break
      forget(key)
    }
  }
  return {
    async get(key) {
      forgetPast()
      const found = kept.get(key)
      return found && found.endsAtMs > clock.now() ? found.answer : undefined
    },
    async set(key, answer, keepMs) {
      forget(key)
      if (answer.length > bytesMax) return
      kept.set(key, { answer, endsAtMs: clock.now() + keepMs })
      bytes += answer.length
      forgetPast()
    },
  }
}
