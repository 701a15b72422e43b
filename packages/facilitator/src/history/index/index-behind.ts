/**
 * The index behind the files. Changes wait in memory until the index has them, so that nobody who waits for the disk waits
 * for the index as well. Changes of one payment that meet in memory become one. After a crash they are read from the files.
 */
import { backOffMs, type ChallengeNonce, createBoundedMap, SvcError } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { HistoryBooks } from '../books.js'
import type { HistoryChange, KnownPayments } from '../change.js'
import type { HistoryPayment } from '../payment.js'
import { createWaiters } from '../waiters.js'
import type { HistoryIndex } from './history-index.js'

export type IndexBehind = {
  /** The payments of these nonces as the files have them. Those without a record are missing. */
  payments(nonces: readonly ChallengeNonce[]): Promise<KnownPayments>
  /** The records up to this number are in the files. Every `before` is what `payments` gave. */
  add(changes: readonly HistoryChange[], seq: number): void
  /** Resolves when few enough changes wait; throws `SvcError('journal_failed')` when too many wait and the index refuses. */
  room(): Promise<void>
  /** Resolves when the index has what was added so far; throws `SvcError('journal_failed')` while it refuses. */
  caughtUp(): Promise<void>
  /** Why the index refuses, while it does. */
  failure(): SvcError | undefined
  /** The index is damaged. It is given nothing until it was mended. */
  needsFilling(): boolean
  /** Has the index made anew from the files, which have everything that was added. Nothing is added meanwhile. */
  mend(fill: () => Promise<void>): Promise<void>
  /** Puts in what waits, once more if the index refuses, and ends. The next start puts in what is left. */
  close(): Promise<void>
}

export type IndexBehindDeps = {
  readonly index: Pick<HistoryIndex, 'payments' | 'put' | 'needsFilling'>
  readonly clock: Clock
  readonly onFailure: (err: unknown) => void
  readonly limits: {
    /** How long changes are gathered for one write of the index, and how many payments at most. */
    readonly historyGatherMs: number
    readonly historyGatheredMax: number
    /** Changed payments that may wait for the index. */
    readonly historyUnindexedMax: number
    /** Payments that are kept in memory because they are about to change again. */
    readonly historyRecentMax: number
    readonly historyRetryFirstMs: number
    readonly historyRetryMaxMs: number
  }
}

export function createIndexBehind(deps: IndexBehindDeps): IndexBehind {
  const { index, clock, limits } = deps
  const unindexed = createUnindexed(limits.historyRecentMax)
  const waiters = createWaiters()
  const closing = new AbortController()
  /** Ends a pause. */
  let hurry = new AbortController()
  let failure: SvcError | undefined
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (unindexed.waiting() > 0) {
      await gather()
      if (index.needsFilling()) break
      const { changes, seq } = unindexed.take()
      if (!(await putUntilTaken(changes, seq))) break
      unindexed.taken()
      waiters.tell(seq)
    }
    waiters.fail(failure ?? failureOf('it is damaged'))
    running = undefined
  }

  async function gather(): Promise<void> {
    const isEnough = unindexed.waiting() >= limits.historyGatheredMax
    if (!isEnough && !waiters.areThere()) await pause(limits.historyGatherMs)
  }

  async function pause(ms: number): Promise<void> {
    if (closing.signal.aborted || index.needsFilling()) return
    hurry = new AbortController()
    await clock.sleep(ms, hurry.signal)
  }

  /** The same call again and again, as the index wants it. False when it was given up. */
  async function putUntilTaken(changes: readonly HistoryChange[], seq: number): Promise<boolean> {
    for (let failures = 1; ; failures += 1) {
      const isLast = closing.signal.aborted
      try {
        await index.put(changes, seq)
        failure = undefined
        return true
      } catch (cause) {
        failure = failureOf(cause)
        deps.onFailure(cause)
        waiters.fail(failure)
        if (isLast) return false
        await pause(backOffMs(failures, limits.historyRetryFirstMs, limits.historyRetryMaxMs))
        if (index.needsFilling()) return false
      }
    }
  }

  async function caughtUp(): Promise<void> {
    if (failure) throw failure
    // While it is mended, the index itself refuses.
    if (!running) return
    const caughtUp = waiters.until(unindexed.lastSeq())
    hurry.abort()
    await caughtUp
  }

  return {
    async payments(nonces) {
      const known = unindexed.payments(nonces)
      const others = nonces.filter((nonce) => !known.has(nonce))
      return others.length === 0 ? known : new Map([...known, ...(await index.payments(others))])
    },
    add(changes, seq) {
      unindexed.add(changes, seq)
      running ??= run()
      // A refused write is not tried again any sooner.
      if (unindexed.waiting() >= limits.historyGatheredMax && !failure) hurry.abort()
    },
    room: async () => (unindexed.waiting() < limits.historyUnindexedMax ? undefined : caughtUp()),
    caughtUp,
    failure: () => failure,
    needsFilling: () => index.needsFilling(),
    async mend(fill) {
      hurry.abort()
      await running
      await fill()
      unindexed.clear()
      failure = undefined
    },
    async close() {
      closing.abort()
      hurry.abort()
      await running
    },
  }
}

/** What the files have and the index lacks, and the payments that are about to change again. */
function createUnindexed(recentMax: number) {
  let waiting = new Map<ChallengeNonce, HistoryChange>()
  /** Changes that the index is being given. */
  let given: typeof waiting = new Map()
  let lastSeq = 0
  const recent = createBoundedMap<ChallengeNonce, HistoryPayment>(recentMax)

  const find = (nonce: ChallengeNonce): HistoryPayment | undefined =>
    (waiting.get(nonce) ?? given.get(nonce))?.after ?? recent.get(nonce)

  return {
    waiting: () => waiting.size,
    lastSeq: () => lastSeq,
    payments(nonces: readonly ChallengeNonce[]): KnownPayments {
      const known = new Map<ChallengeNonce, HistoryPayment>()
      for (const nonce of nonces) {
        const payment = find(nonce)
        if (payment) known.set(nonce, payment)
      }
      return known
    },
    add(changes: readonly HistoryChange[], seq: number): void {
      for (const change of changes) {
        const { after } = change
        const { nonce } = after.challenge
        // The index holds what came before the first of them.
        const first = waiting.get(nonce)
        waiting.set(nonce, first ? { ...first, after } : change)
        recent.delete(nonce)
        if (!after.finalized) recent.set(nonce, after)
      }
      lastSeq = seq
    },
    take() {
      given = waiting
      waiting = new Map()
      return { changes: [...given.values()], seq: lastSeq }
    },
    taken(): void {
      given = new Map()
    },
    clear(): void {
      waiting = new Map()
      given = new Map()
    },
  }
}

const failureOf = (cause: unknown): SvcError =>
  new SvcError('journal_failed', 'the index of the payment history cannot be written', { cause })

/** Questions that wait until the index has what was on the disk when they came. */
export const booksBehind = (
  books: HistoryBooks,
  { caughtUp }: Pick<IndexBehind, 'caughtUp'>,
): HistoryBooks => ({
  find: (nonce) => caughtUp().then(() => books.find(nonce)),
  page: (query) => caughtUp().then(() => books.page(query)),
  totals: (scope, period) => caughtUp().then(() => books.totals(scope, period)),
  async *all(filter) {
    await caughtUp()
    yield* books.all(filter)
  },
})
