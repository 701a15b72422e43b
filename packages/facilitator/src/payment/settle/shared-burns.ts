/**
 * Burns as a settle sees them, wherever they are under way. The daemon that sends has them at hand. Any other leaves its
 * claims to that one, and waits until the ledger tells how they ended.
 */
import { type ChallengeNonce, type Clock, inTime, type Rejection, SvcError } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { ClaimedPermit, Payment } from '../records.js'
import type { Burns } from './burns.js'
import type { BurnEnd } from './run-burn.js'

export type SettleBurns = Pick<Burns, 'start' | 'isUnderWay'> & {
  /** As `Burns.watch`. `isElsewhere`: another account sends the burn, whoever sends here. */
  watch(nonce: ChallengeNonce, boundMs: number, isElsewhere?: boolean): ReturnType<Burns['watch']>
  /** As `Burns.refuse`. `elsewhere`: another daemon sends the burn, and may have signed it. */
  refuse(item: ClaimedPermit, rejection: Rejection): Promise<'refused' | 'under_way' | 'elsewhere'>
}

/** Signals that another daemon changed the ledger. Signals that come together are merged. */
export type LedgerChanges = {
  /** The number of signals so far. To be asked before one looks. */
  seen(): number
  /** Waits for the next signal, or for a while. */
  since(seen: number): Promise<void>
  /** Calls back at each signal, until the returned function is called. */
  listen(listener: () => void): () => void
  /** Hints may get lost, so everybody looks this often without one. */
  readonly everyMs: number
}

export function createLedgerChanges(
  hints: ((listener: () => void) => () => void) | undefined,
  clock: Pick<Clock, 'sleep'>,
  { everyMs, gatherMs }: { readonly everyMs: number; readonly gatherMs: number },
): LedgerChanges {
  let count = 0
  let next = new AbortController()
  let isGathering = false
  const listeners = new Set<() => void>()

  async function gather(): Promise<void> {
    if (isGathering) return
    isGathering = true
    await clock.sleep(gatherMs)
    isGathering = false
    count += 1
    next.abort()
    next = new AbortController()
    for (const listener of listeners) listener()
  }

  hints?.(() => void gather())
  return {
    everyMs,
    seen: () => count,
    async since(seen) {
      if (count === seen) await clock.sleep(everyMs, next.signal)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function createSharedBurns(deps: {
  /** The burns of this daemon. Undefined while another one sends. */
  readonly here: () => Pick<Burns, 'start' | 'watch' | 'refuse' | 'isUnderWay'> | undefined
  readonly ledger: Pick<Ledger, 'ended'>
  readonly changes: LedgerChanges
  readonly clock: Clock
}): SettleBurns {
  const { here, clock } = deps
  const elsewhere = createElsewhere(deps)
  return {
    start: (item, verdict) => here()?.start(item, verdict),
    watch: (nonce, boundMs, isElsewhere) => {
      const untilMs = clock.now() + boundMs
      const inLedger = () => {
        const leftMs = Math.max(0, untilMs - clock.now())
        return inTime(elsewhere(nonce, leftMs), leftMs, clock)
      }
      const burns = isElsewhere ? undefined : here()
      if (!burns) return inLedger()
      // The holder of its lease takes the claim up now.
      return burns.watch(nonce, boundMs)?.catch(unlessLost(inLedger))
    },
    refuse: async (item, rejection) =>
      (await here()
        ?.refuse(item, rejection)
        .catch(unlessLost(() => undefined))) ?? 'elsewhere',
    /** Another daemon takes up every claim by itself. */
    isUnderWay: (nonce) => here()?.isUnderWay(nonce) ?? true,
  }
}

const unlessLost =
  <T>(other: () => T) =>
  (error: unknown): T => {
    if (error instanceof SvcError && error.code === 'lease_lost') return other()
    throw error
  }

/** Waits for the ends of burns that other daemons send, and asks for all of them at once. */
function createElsewhere({
  ledger,
  changes,
  clock,
}: Pick<Parameters<typeof createSharedBurns>[0], 'ledger' | 'changes' | 'clock'>): (
  nonce: ChallengeNonce,
  boundMs: number,
) => Promise<BurnEnd | 'late'> {
  type Waiter = { readonly untilMs: number; end(end: BurnEnd | 'late'): void; fail(error: unknown): void }
  const waiters = new Map<ChallengeNonce, Set<Waiter>>()
  let isLooking = false

  async function look(): Promise<void> {
    for (const payment of await ledger.ended([...waiters.keys()])) {
      const end = endOf(payment)
      const { nonce } = payment.challenge
      if (!end) continue
      for (const waiter of waiters.get(nonce) ?? []) waiter.end(end)
      waiters.delete(nonce)
    }
    for (const [nonce, those] of waiters) {
      for (const waiter of those) {
        if (clock.now() < waiter.untilMs) continue
        waiter.end('late')
        those.delete(waiter)
      }
      if (those.size === 0) waiters.delete(nonce)
    }
  }

  async function keepLooking(): Promise<void> {
    isLooking = true
    try {
      while (waiters.size > 0) {
        const seen = changes.seen()
        await look()
        await changes.since(seen)
      }
    } catch (error) {
      for (const those of waiters.values()) for (const waiter of those) waiter.fail(error)
      waiters.clear()
    } finally {
      isLooking = false
    }
  }

  return (nonce, boundMs) =>
    new Promise((end, fail) => {
      const those = waiters.get(nonce) ?? new Set()
      waiters.set(nonce, those.add({ untilMs: clock.now() + boundMs, end, fail }))
      if (!isLooking) void keepLooking()
    })
}

function endOf({ accepted, claim, released }: Payment): BurnEnd | undefined {
  if (accepted) return { kind: 'accepted' }
  if (claim || !released) return undefined
  const { reason, message, txHash } = released
  return { kind: 'failed', rejection: { ok: false, reason, message }, ...(txHash && { txHash }) }
}
