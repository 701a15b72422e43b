/** Grants: one success for each accepted payment. A caller holds the grant, and uses it once its answer was written. */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { Grant, Hold, Ledger } from '../../payment/ledger-port.js'
import type { Accepted, Payment } from '../../payment/records.js'
import type { StepResult } from '../group.js'
import { grantableIn, type Held, untaken } from '../steps/hold-steps.js'
import type { Store } from '../store.js'

/**
 * Accepts a burn for a caller here, with a hold for that one. The store may show the burn to another caller before it answers:
 * that caller has the grant then, and nobody gets a hold.
 */
type AcceptAwaited = (
  nonce: ChallengeNonce,
  accept: (holder: string | undefined) => Promise<StepResult<'accept'>>,
) => ReturnType<Ledger['acceptAwaited']>

/** Where other daemons can reach the store, a hold there keeps their callers off. */
export function createGrants(
  store: Pick<Store, 'change' | 'closed' | 'leases'>,
  clock: Pick<Clock, 'sleep'>,
  { find, presented }: Pick<Ledger, 'find' | 'presented'>,
): Pick<Ledger, 'find' | 'presented' | 'takeGrant'> & { readonly acceptAwaited: AcceptAwaited } {
  const { change } = store
  const { holder } = store.leases
  /** Grants that a caller here holds, each with the callers that wait for it, in order. */
  const held = new Map<ChallengeNonce, (() => void)[]>()
  const unrecorded = createUnrecorded(store, clock)
  const accepting = createAccepting()

  function letGo(nonce: ChallengeNonce): void {
    const line = held.get(nonce)
    held.delete(nonce)
    for (const next of line ?? []) next()
  }

  function hold(nonce: ChallengeNonce): Grant {
    const until = performance.now() + limits.grantHoldMs / 2
    held.set(nonce, [])
    return {
      isHeld: () => holder === undefined || performance.now() < until,
      async use() {
        if (!held.has(nonce)) return
        const recorded = unrecorded.record(nonce)
        letGo(nonce)
        await recorded
      },
      async giveBack() {
        if (!held.has(nonce)) return
        const given = holder === undefined ? Promise.resolve() : change('endHold', nonce, holder)
        await given.finally(() => letGo(nonce))
      },
    }
  }

  /** The burn that paid, once this daemon holds the grant. */
  const look = async (nonce: ChallengeNonce, ticketed: boolean) =>
    holder ? change('takeHold', nonce, holder, ticketed) : grantableIn(await find(nonce), ticketed)

  /** Holds the grant first and looks then, so that nobody uses it in between. */
  async function take(
    nonce: ChallengeNonce,
    ticketed: boolean,
    left?: Hold,
  ): ReturnType<Ledger['takeGrant']> {
    if (unrecorded.has(nonce)) return 'used'
    const grant = hold(nonce)
    const accepted = left?.take(ticketed)
    if (accepted) return { ...grant, accepted }
    const found = await look(nonce, ticketed).catch(async (error) => {
      await grant.giveBack()
      throw error
    })
    if (typeof found === 'object') {
      accepting.taken(nonce)
      return { ...grant, accepted: found }
    }
    // Nothing was taken. A hold in the store is for another caller here, who waits for the burn.
    letGo(nonce)
    return found
  }

  return {
    async acceptAwaited(nonce, accept) {
      const { outcome, free } = await accepting.run(nonce, () => accept(holder))
      return { outcome, ...(free && { hold: handOut(store, clock, nonce, free) }) }
    },

    /** A grant that is used counts at once: nobody may be told that the payment is still good while it is recorded. */
    find: async (nonce) => asUsed(unrecorded.has(nonce), await find(nonce)),

    async presented(payload) {
      const isUsed = unrecorded.has(payload.challengeNonce)
      const found = await presented(payload)
      return { ...found, payment: asUsed(isUsed, found.payment) }
    },

    async takeGrant(nonce, boundMs, { ticketed, hold: left } = { ticketed: false }) {
      let untaken = left
      const waited = new AbortController()
      const elapsed = clock.sleep(boundMs, waited.signal).then(() => 'elapsed' as const)
      try {
        for (;;) {
          const line = held.get(nonce)
          const taken = line ? 'held' : await take(nonce, ticketed, untaken)
          if (taken !== 'held') return taken
          // The caller that is waited for may have ended the hold that was meant for this one.
          untaken = undefined
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
}

/** What the store held for a caller here, and until when that is sure. */
type Free = Held & { readonly untilMs: number }

/** Payments that the store is accepting, and whether a caller here has found the burn in the store meanwhile. */
function createAccepting() {
  const underWay = new Set<{ readonly nonce: ChallengeNonce; isTaken: boolean }>()
  return {
    async run(
      nonce: ChallengeNonce,
      accept: () => Promise<StepResult<'accept'>>,
    ): Promise<{ readonly outcome: Awaited<ReturnType<Ledger['accept']>>; readonly free?: Free }> {
      const mine = { nonce, isTaken: false }
      const untilMs = performance.now() + limits.grantHoldMs / 2
      underWay.add(mine)
      const accepted = await accept().finally(() => underWay.delete(mine))
      if (typeof accepted !== 'object') return { outcome: accepted }
      return { outcome: 'accepted', ...(!mine.isTaken && { free: { ...accepted, untilMs } }) }
    },
    taken(nonce: ChallengeNonce): void {
      for (const each of underWay) if (each.nonce === nonce) each.isTaken = true
    },
  }
}

/** A hold that nobody takes at once is given up: its caller went away. In a ledger of one daemon it keeps nobody off. */
function handOut(
  { change, closed, leases: { holder } }: Pick<Store, 'change' | 'closed' | 'leases'>,
  clock: Pick<Clock, 'sleep'>,
  nonce: ChallengeNonce,
  free: Free,
): Hold {
  let left: Accepted | undefined = free.accepted
  const take = (ticketed: boolean) => {
    // A daemon that stood still since it asked for the hold may have lost it.
    if ((free.ticketed && !ticketed) || performance.now() > free.untilMs) return undefined
    const taken = left
    left = undefined
    return taken
  }
  const giveUp = async () => {
    if (take(true) && !closed.aborted) await change('endHold', nonce, untaken(holder ?? ''))
  }
  // A hold that cannot be given up runs out.
  if (holder !== undefined) {
    clock
      .sleep(limits.sharedPollMs, closed)
      .then(giveUp)
      .catch(() => undefined)
  }
  return { take }
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

  async function recordUnsent(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    next = undefined
    const nonces = [...unsent]
    unsent.clear()
    try {
      await change('useGrants', nonces, holder)
    } catch (error) {
      for (const each of nonces) unsent.add(each)
      // Another daemon would serve it again once the hold has run out.
      if (holder !== undefined) void recordLater()
      throw error
    }
    for (const each of nonces) unrecorded.delete(each)
  }

  async function recordLater(): Promise<void> {
    await clock.sleep(limits.sharedPollMs, closed)
    if (unsent.size > 0 && !closed.aborted) await recordSoon().catch(() => undefined)
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
