/**
 * Keeps the leased side of this daemon in step with its lease. The work is taken up with the lease, and put down with it: the
 * side is made again. A daemon without the lease stands by: it mines, and tells how things stand.
 */
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import { type Loop, startLoop } from '../payment/loop.js'
import type { Lease, Leases } from '../store/lease.js'
import type { Log } from '../telemetry/events.js'
import type { LeasedSide } from './leased-side.js'

/** The lease of everything that one daemon at a time does for a ledger. */
export const activeLease = 'active'

export type LeasedSideKeeper = {
  current(): LeasedSide
  /** Whether this daemon takes payments, burns, mints and sweeps. */
  isActive(): boolean
  /** From now on the work is done, taken and lost. */
  start(): void
  /** Stops the work and gives the lease back, so that another daemon goes on while this one ends. Nothing for one that is alone. */
  handOver(): Promise<void>
  drain(): Promise<void>
  close(): Promise<void>
}

export async function keepLeasedSide(deps: {
  readonly leases: Leases
  readonly make: (active: Lease | undefined) => Promise<LeasedSide>
  /** The ledger must be put right before anything else, which only the active daemon may do. */
  readonly isCopy: boolean
  /** Whether the ledger turned out to be a copy only after the start. */
  readonly isOld: () => boolean
  /** Puts a copy right, under the lease: a daemon that was stopped meanwhile must not do it again. */
  readonly acceptCopy: (active: Lease) => Promise<void>
  readonly clock: Clock
  readonly log: Log
  /** Pause between two looks for a lease that is free or lost. */
  readonly pollMs: number
}): Promise<LeasedSideKeeper> {
  const { leases, make, clock, log, pollMs } = deps
  /** The lease of the current side. */
  let held: Lease | undefined
  /** True when the current side was closed or never started, because its successor failed to start. */
  let isBroken = false

  const takeUnlessHeld = async (): Promise<Lease | undefined> =>
    held && !held.lost.aborted ? held : leases.take(activeLease)

  held = deps.isCopy ? await takeInTime(deps) : await takeOrStandBy(deps)
  if (deps.isCopy && held) await deps.acceptCopy(held)
  let side = await make(held)
  if (held) await side.resume()

  function tell(before: Lease | undefined): void {
    if (held?.fence && held !== before) log({ event: 'active.taken', term: held.fence.term })
    if (before?.lost.aborted) log({ event: 'active.lost' })
  }

  /** Closes the current leased side and starts a new one with this lease. */
  async function change(next: Lease | undefined): Promise<void> {
    const before = { side, held }
    held = undefined
    // Its further steps are refused by the term. Its work stands in the ledger for the new side.
    await before.side.close()
    void before.side.drain().catch((err) => log({ event: 'work.failed', err }))
    side = await make(next)
    if (next) await side.resume()
    held = next
    isBroken = false
    side.startLoops()
    tell(before.held)
  }

  async function giveUp(lease: Lease | undefined): Promise<void> {
    held = undefined
    isBroken = true
    await lease?.release()
  }

  async function look(): Promise<void> {
    let next = await takeUnlessHeld()
    const isOld = deps.isOld() && next !== undefined
    if (next === held && !isOld && !isBroken) return
    try {
      if (isOld) {
        // The current side may be about to record events of the time that the copy lacks. A new term refuses them.
        await giveUp(next)
        next = await takeUnlessHeld()
        if (next) await deps.acceptCopy(next)
      }
      await change(next)
    } catch (error) {
      // Another daemon may fare better, and so may this one later.
      await giveUp(next)
      throw error
    }
  }

  let looking: Loop | undefined
  return {
    current: () => side,
    isActive: () => held !== undefined,
    start() {
      side.startLoops()
      tell(undefined)
      if (leases.holder === undefined) return
      const onFailure = (err: unknown) => log({ event: 'work.failed', err })
      looking = startLoop({ round: look, clock, periodMs: pollMs, onFailure })
    },
    async handOver() {
      await looking?.stop()
      if (leases.holder === undefined || !held) return
      const lease = held
      // From now on new work is refused.
      held = undefined
      await side.close()
      await lease.release()
    },
    async drain() {
      await looking?.stop()
      await side.drain()
    },
    async close() {
      void looking?.stop()
      await side.close()
      await held?.release().catch(() => undefined)
    },
  }
}

/** Waits for a daemon that may have died. */
async function takeInTime({
  leases,
  clock,
  pollMs,
}: {
  leases: Leases
  clock: Clock
  pollMs: number
}): Promise<Lease> {
  for (let waited = 0; waited <= 2 * limits.leaseMs; waited += pollMs) {
    const taken = await leases.take(activeLease)
    if (taken) return taken
    await clock.sleep(pollMs)
  }
  throw inUse()
}

/** Stands by when the ledger is locked, perhaps by a daemon that is frozen in a transaction: the next look tries again. */
async function takeOrStandBy({ leases, log }: { leases: Leases; log: Log }): Promise<Lease | undefined> {
  try {
    return await leases.take(activeLease)
  } catch (err) {
    log({ event: 'work.failed', err })
    return undefined
  }
}

export const inUse = (): SvcError =>
  new SvcError('ledger_locked', 'storage.url: other daemons use this ledger; stop them first')
