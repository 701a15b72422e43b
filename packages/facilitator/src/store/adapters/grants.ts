/** Grants: one success for each accepted payment. A caller holds the grant, and uses it once its answer was written. */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { Grant, Ledger } from '../../payment/ledger-port.js'
import type { Payment } from '../../payment/records.js'
import { grantableIn } from '../steps/steps.js'
import type { Store } from '../store.js'

/** A term in which this daemon is the active one of its ledger. What callers here hold outlives it. */
type GrantTerm = Pick<Ledger, 'accept' | 'takeGrant'>

export function createGrants(
  store: Pick<Store, 'change' | 'closed' | 'leases'>,
  clock: Pick<Clock, 'sleep'>,
  { find, presented }: Pick<Ledger, 'find' | 'presented'>,
): Pick<Ledger, 'find' | 'presented'> & { termWith(change: Store['change']): GrantTerm } {
  const isShared = store.leases.holder !== undefined
  /** Grants that a caller here holds, each with the callers that wait for it, in order. */
  const held = new Map<ChallengeNonce, (() => void)[]>()
  const unrecorded = createUnrecorded(store, clock)

  function letGo(nonce: ChallengeNonce): void {
    const line = held.get(nonce)
    held.delete(nonce)
    for (const next of line ?? []) next()
  }

  function hold(nonce: ChallengeNonce): Grant {
    const until = performance.now() + limits.grantHoldMs / 2
    held.set(nonce, [])
    return {
      isHeld: () => !isShared || performance.now() < until,
      async use() {
        if (!held.has(nonce)) return
        const recorded = unrecorded.record(nonce)
        letGo(nonce)
        await recorded
      },
      async giveBack() {
        if (held.has(nonce)) letGo(nonce)
      },
    }
  }

  return {
    /** A grant that is used counts at once: nobody may be told that the payment is still good while it is recorded. */
    find: async (nonce) => asUsed(unrecorded.has(nonce), await find(nonce)),

    async presented(payload) {
      const isUsed = unrecorded.has(payload.challengeNonce)
      const found = await presented(payload)
      return { ...found, payment: asUsed(isUsed, found.payment) }
    },

    /** `change` is made under the lease of the term. */
    termWith(change) {
      const inherited = isShared ? createInherited() : undefined
      // Where others may take over, it is looked at under the lease: they give nothing of it until this caller must be done.
      const look = async (nonce: ChallengeNonce, ticketed: boolean) =>
        isShared ? change('findGrantable', nonce, ticketed) : grantableIn(await find(nonce), ticketed)

      /** Holds the grant first and looks then, so that nobody uses it in between. */
      async function take(nonce: ChallengeNonce, ticketed: boolean): ReturnType<Ledger['takeGrant']> {
        if (unrecorded.has(nonce)) return 'used'
        const grant = hold(nonce)
        const found = await look(nonce, ticketed).catch((error) => {
          letGo(nonce)
          throw error
        })
        if (typeof found === 'object' && !inherited?.has(nonce)) return { ...grant, accepted: found }
        letGo(nonce)
        return typeof found === 'object' ? 'held' : found
      }

      return {
        async accept(nonce, burn) {
          const outcome = await change('accept', nonce, burn)
          if (outcome === 'accepted') inherited?.leaveOut(nonce)
          return outcome === 'accepted_again' ? 'accepted' : outcome
        },

        async takeGrant(nonce, boundMs, ticketed = false) {
          const waited = new AbortController()
          const elapsed = clock.sleep(boundMs, waited.signal).then(() => 'elapsed' as const)
          try {
            for (;;) {
              const line = held.get(nonce)
              const taken = line ? 'held' : await take(nonce, ticketed)
              if (taken !== 'held') return taken
              const ended = line
                ? new Promise<void>((resolve) => line.push(resolve))
                : clock.sleep(limits.sharedPollMs, waited.signal)
              if ((await Promise.race([ended, elapsed])) === 'elapsed') return 'held'
            }
          } finally {
            waited.abort('over')
          }
        },
      }
    },
  }
}

/**
 * Payments that were accepted before this daemon became the active one. The one before may have answered for them and not have
 * recorded that yet. They are kept back until its callers must be done, and as long again for it to record them.
 */
function createInherited() {
  const untilMs = performance.now() + limits.grantHoldMs
  const ours = new Set<ChallengeNonce>()
  const isOver = () => performance.now() >= untilMs
  return {
    has: (nonce: ChallengeNonce): boolean => !isOver() && !ours.has(nonce),
    /** It is accepted for the first time, and here. */
    leaveOut: (nonce: ChallengeNonce): void => void (isOver() ? ours.clear() : ours.add(nonce)),
  }
}

/**
 * Used grants that the disk did not take yet: nobody is served, and the next grant that is used writes again what it refused.
 * Grants that are used in one turn of the event loop are one step: when a block comes, many payers are answered at once.
 */
function createUnrecorded(
  { change, closed, leases: { holder } }: Pick<Store, 'change' | 'closed' | 'leases'>,
  clock: Pick<Clock, 'sleep'>,
) {
  const unrecorded = new Set<ChallengeNonce>()
  /** Unrecorded grants that no step under way records. */
  const unsent = new Set<ChallengeNonce>()
  let next: Promise<void> | undefined
  let retrying: Promise<void> | undefined

  async function recordUnsent(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    next = undefined
    const nonces = [...unsent]
    unsent.clear()
    try {
      // Under no lease: what was answered is recorded, whoever is active by now.
      await change('useGrants', nonces)
    } catch (error) {
      for (const each of nonces) unsent.add(each)
      // The next active daemon would serve it again, once it gives what it took over.
      if (holder !== undefined) retrying ??= recordUntilTaken().finally(() => (retrying = undefined))
      throw error
    }
    for (const each of nonces) unrecorded.delete(each)
  }

  async function recordUntilTaken(): Promise<void> {
    while (unsent.size > 0 && !closed.aborted) {
      await clock.sleep(limits.sharedPollMs, closed)
      if (unsent.size > 0 && !closed.aborted) await recordSoon().catch(() => undefined)
    }
  }

  function recordSoon(): Promise<void> {
    next ??= recordUnsent()
    return next
  }

  return {
    has: (nonce: ChallengeNonce): boolean => unrecorded.has(nonce),
    record(nonce: ChallengeNonce): Promise<void> {
      unrecorded.add(nonce)
      unsent.add(nonce)
      return recordSoon()
    },
  }
}

const asUsed = (isUsed: boolean, payment: Payment | undefined) =>
  payment && isUsed ? { ...payment, granted: true } : payment
