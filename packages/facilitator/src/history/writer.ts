/**
 * Writes the history. Payments are noted as they change, and wait in a queue. A batch of them becomes records, which are
 * appended and synced together, and handed to the index. When the disk refuses, the queue stays, everybody who waits is
 * told, and the batch is tried again after a pause that grows.
 */
import { type Address, backOffMs, type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { HistoryPort } from '../payment/history-port.js'
import type { Clock } from '../payment/ports.js'
import { type BatchWriterDeps, createBatchWriter, type Noted } from './batch.js'
import type { IndexBehind } from './index/index-behind.js'
import { newDisclosure, newRecords } from './new-records.js'
import { createWaiters } from './waiters.js'

/** The part of the index that the writer needs. */
export type WrittenIndex = Pick<IndexBehind, 'payments' | 'add' | 'room' | 'failure' | 'needsFilling'>

export type HistoryWriter = Pick<HistoryPort, 'assertRoom' | 'note' | 'durable' | 'isDurable'> & {
  /** The payer lets the provider see its address and its burn. Resolves when that is on the disk. */
  disclose(nonce: ChallengeNonce, payer: Address): Promise<void>
  /** Damage was found in the index: it is made anew at once. Until then nothing is written and no payment goes on. */
  mendIndex(): void
  /** Records written since the start, and whether the disk refuses now. */
  stats(): { readonly records: number; readonly failed: boolean }
  /** Writes what waits, once more if the disk refuses, and ends. */
  close(): Promise<void>
}

export type HistoryWriterDeps = {
  readonly files: BatchWriterDeps['files']
  readonly index: WrittenIndex
  /** Makes a damaged index anew from the files. Nothing is appended to them meanwhile. Throws once the signal says so. */
  readonly fillIndex: (signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly onFailure: (err: unknown) => void
  readonly limits: {
    /** Payments in one batch. */
    readonly historyBatchMax: number
    /** Payments that may wait; beyond them nothing new begins. */
    readonly historyWaitingMax: number
    /** First and longest pause after a failure. */
    readonly historyRetryFirstMs: number
    readonly historyRetryMaxMs: number
  }
}

export function createHistoryWriter(deps: HistoryWriterDeps): HistoryWriter {
  const { limits, index } = deps
  const queue: Noted[] = []
  const waiters = createWaiters()
  /** Payments noted, and payments that are on the disk. */
  const counts = { noted: 0, written: 0 }
  const closing = new AbortController()
  let running: Promise<void> | undefined
  const batches = createPatientWriter(deps, closing.signal, waiters.fail)

  async function run(): Promise<void> {
    // After the events that are queued already, so that notes made in one go are one write.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0 || (index.needsFilling() && !closing.signal.aborted)) {
      const batch = queue.slice(0, limits.historyBatchMax)
      if (!(await batches.write(batch))) break
      queue.splice(0, batch.length)
      counts.written += batch.length
      waiters.tell(counts.written)
    }
    // In the same turn as the look at the queue: a note that comes next must find the writer idle.
    running = undefined
  }

  function add(noted: Noted): void {
    queue.push(noted)
    counts.noted += 1
    running ??= run()
  }

  /** Nothing new begins while the index refuses, either. What is under way goes on: its records are on the disk. */
  const failure = () => batches.failure() ?? index.failure()

  function assertRoom(): void {
    if (closing.signal.aborted) throw failureOf('it is closed')
    const refusal = failure()
    if (refusal) throw refusal
    if (queue.length >= limits.historyWaitingMax) throw failureOf('too many payments wait for the disk')
  }

  const isDurable = () => queue.length === 0

  function durable(): Promise<void> {
    if (isDurable()) return Promise.resolve()
    const refusal = batches.failure()
    return refusal ? Promise.reject(refusal) : waiters.until(counts.noted)
  }

  return {
    assertRoom,
    note(payment, isOlder = false) {
      // A copy: the ledger changes its own object, and every turn of a payment has a record.
      const copy = { ...payment }
      add({
        nonce: payment.challenge.nonce,
        records: (known, now) => newRecords(known, copy, now, isOlder),
      })
    },
    durable,
    isDurable,
    async disclose(nonce, payer) {
      assertRoom()
      add({ nonce, records: (known, now) => newDisclosure(known, payer, now) })
      await durable()
    },
    mendIndex() {
      running ??= run()
    },
    stats: () => ({ records: batches.records(), failed: failure() !== undefined }),
    async close() {
      closing.abort()
      await running
    },
  }
}

/** Tries a batch again and again. */
function createPatientWriter(
  deps: HistoryWriterDeps,
  closing: AbortSignal,
  onRefused: (failure: SvcError) => void,
) {
  const { clock, limits, index } = deps
  const writeBatch = createBatchWriter(deps)
  let failure: SvcError | undefined
  let records = 0

  /** Takes minutes where the history is long. Nothing new begins meanwhile. */
  async function fillIndex(): Promise<void> {
    failure = failureOf('its index is made anew')
    await deps.fillIndex(closing)
  }

  return {
    /** Why the last try failed; undefined once one succeeds. */
    failure: () => failure,
    records: () => records,
    /** False when the batch was given up. */
    async write(batch: readonly Noted[]): Promise<boolean> {
      for (let failures = 1; ; failures += 1) {
        const isLast = closing.aborted
        const isFilling = index.needsFilling()
        try {
          if (isFilling) await fillIndex()
          records += await writeBatch(batch)
          failure = undefined
          return true
        } catch (cause) {
          failure = failureOf(cause)
          deps.onFailure(cause)
          // Damage is mended at once. Whoever waits already waits for it, such as a start that adds what the journal knows.
          if (index.needsFilling() && !isFilling && !isLast) continue
          onRefused(failure)
          if (isLast) return false
          const pauseMs = backOffMs(failures, limits.historyRetryFirstMs, limits.historyRetryMaxMs)
          await clock.sleep(pauseMs, closing)
        }
      }
    },
  }
}

const failureOf = (cause: unknown): SvcError =>
  new SvcError('journal_failed', 'the payment history cannot be written', { cause })
