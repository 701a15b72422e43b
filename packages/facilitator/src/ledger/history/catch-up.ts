/**
 * Brings a history up to a journal. The history remembers the place in the journal up to which it is complete. Payments
 * with records behind that place are noted at once. Where the place says nothing about this journal, all payments are
 * noted, a few at a time, while the daemon works.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { HistoryPort, JournalPlace } from '../../payment/history-port.js'
import type { Clock } from '../../payment/ports.js'
import type { LedgerEvent } from '../events/events.js'
import type { LedgerState } from '../state/state.js'
import { noncesChangedBy } from './noted-ledger.js'

/** Payments behind the place that are noted before the daemon serves. */
const behindMax = 10_000
/** Payments that are noted in one go. */
const atOnce = 250
const retryMs = 1_000

export type Behind = ReturnType<typeof createBehind>

/** Collects the payments of journal records behind a place, while the journal is read. */
export function createBehind(place: JournalPlace | undefined) {
  const nonces = new Set<ChallengeNonce>()
  return {
    saw(event: LedgerEvent, seq: number): void {
      if (!place || seq <= place.records || nonces.size > behindMax) return
      if (event.event === 'challenge_issued' || event.event === 'payment_recorded') {
        nonces.add(event.challenge.nonce)
      }
      for (const nonce of noncesChangedBy(event)) nonces.add(nonce)
    },
    /** How the history stands to the journal that was read. */
    judge(journal: JournalPlace): CatchUp {
      if (!place) return { kind: 'all', isOlder: false }
      const isSame = place.id === journal.id && place.generation === journal.generation
      if (isSame && place.records <= journal.records) {
        return nonces.size > behindMax
          ? { kind: 'all', isOlder: false }
          : { kind: 'some', nonces: [...nonces] }
      }
      // A journal that was written anew has the same payments, and perhaps more. Any other has perhaps fewer.
      return { kind: 'all', isOlder: place.id !== journal.id || place.generation >= journal.generation }
    },
  }
}

export type CatchUp =
  | { readonly kind: 'some'; readonly nonces: readonly ChallengeNonce[] }
  | { readonly kind: 'all'; readonly isOlder: boolean }

export type CatchUpRun = {
  /** Whether every payment of the journal was noted and is on the disk. */
  isOver(): boolean
  stop(): Promise<void>
}

/** Resolves when the daemon may serve. Throws when the disk refuses what has to be there before. */
export async function startCatchUp(
  deps: {
    readonly state: LedgerState
    readonly history: HistoryPort
    readonly clock: Clock
    /** Told how many payments were compared, when all of them are recorded. */
    readonly onEnd: (payments: number) => void
  },
  catchUp: CatchUp,
): Promise<CatchUpRun> {
  const { state, history } = deps
  if (catchUp.kind === 'some') {
    for (const nonce of catchUp.nonces) {
      const payment = state.find(nonce)
      if (payment) history.note(payment)
    }
    await history.durable()
    if (catchUp.nonces.length > 0) deps.onEnd(catchUp.nonces.length)
    return { isOver: () => true, stop: async () => undefined }
  }
  const stopping = new AbortController()
  let isOver = false
  const running = noteAll({ ...deps, isOlder: catchUp.isOlder, signal: stopping.signal }).then((payments) => {
    if (payments === undefined) return
    isOver = true
    if (payments > 0) deps.onEnd(payments)
  })
  return {
    isOver: () => isOver,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** The number of payments; undefined when it was stopped before the end. */
async function noteAll({
  state,
  history,
  clock,
  isOlder,
  signal,
}: {
  readonly state: LedgerState
  readonly history: HistoryPort
  readonly clock: Clock
  readonly isOlder: boolean
  readonly signal: AbortSignal
}): Promise<number | undefined> {
  // Listed now: a challenge that expires meanwhile is forgotten, and one that is issued meanwhile is noted by its step.
  const live = [...state.live()]
  const ended = state.endedSnapshot()
  function* listed() {
    yield* live
    for (const { challenge } of ended) yield { challenge, granted: false }
  }
  let count = 0
  try {
    for (const payment of listed()) {
      // The payment of this moment: what was listed may be old by now.
      history.note(state.find(payment.challenge.nonce) ?? payment, isOlder)
      count += 1
      if (count % atOnce === 0 && !(await isWritten())) return undefined
    }
    return (await isWritten()) ? count : undefined
  } finally {
    ended.release()
  }

  /** Waits until the disk has what was noted, however long it refuses. False when nobody waits any more. */
  async function isWritten(): Promise<boolean> {
    for (;;) {
      if (signal.aborted) return false
      const isDone = await history.durable().then(
        () => true,
        () => false,
      )
      if (isDone) return !signal.aborted
      await clock.sleep(retryMs, signal)
    }
  }
}
