/**
 * Keeps the leased side of this daemon in step with its leases. Work is taken up with its lease, and put down with it: the
 * side is made again with what is held. A daemon without a lease proves for others, and tells how things stand.
 */
import { type Address, type Clock, SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import { type Loop, startLoop } from '../payment/loop.js'
import { type Lease, type Leases, sendLease } from '../store/lease.js'
import type { Log } from '../telemetry/events.js'
import type { HeldLeases, LeasedSide } from './leased-side.js'

/** The lease of everything that one daemon at a time does for a ledger. */
export const workLease = 'work'

export type LeasedSideKeeper = {
  current(): LeasedSide
  /** Whether this daemon sends burns. */
  isSending(): boolean
  /** Whether this daemon follows, mints and sweeps. */
  isWorking(): boolean
  /** From now on work is done, taken and lost. */
  start(): void
  drain(): Promise<void>
  close(): Promise<void>
}

type Held = { -readonly [Name in keyof HeldLeases]: HeldLeases[Name] }

export async function keepLeasedSide(deps: {
  readonly leases: Leases
  /** The account that sends burns here. */
  readonly account: Address
  readonly make: (held: HeldLeases) => Promise<LeasedSide>
  /** The ledger must be put right before anything else, which only the one that works may do. */
  readonly isCopy: boolean
  /** Whether the ledger turned out to be a copy only after the start. */
  readonly isOld: () => boolean
  /** Puts a copy right, under the lease of the work: a daemon that was stopped meanwhile must not do it again. */
  readonly acceptCopy: (work: Lease) => Promise<void>
  readonly clock: Clock
  readonly log: Log
  /** Pause between two looks for leases that are free or lost. */
  readonly pollMs: number
}): Promise<LeasedSideKeeper> {
  const { leases, make, clock, log, pollMs } = deps
  /** The leases of the current side. */
  let held: Held = {}
  /** True when the current side was closed or never started, because its successor failed to start. */
  let isBroken = false
  const takeMore = createTakeMore(leases, deps.account)

  /** Waits for a daemon that may have died. */
  async function takeAll(): Promise<Held> {
    for (let waited = 0; waited <= 2 * limits.leaseMs; waited += pollMs) {
      held = await takeMore(held)
      if (held.work) return held
      await clock.sleep(pollMs)
    }
    throw inUse()
  }

  held = deps.isCopy ? await takeAll() : await takeMore(held)
  if (deps.isCopy && held.work) await deps.acceptCopy(held.work)
  let side = await make(held)
  if (held.send) await side.resume()

  function tell(before: Held): void {
    const { send, work } = held
    if (send?.fence && send !== before.send) log({ event: 'sending.taken', term: send.fence.term })
    if (work?.fence && work !== before.work) log({ event: 'work.taken', term: work.fence.term })
    if (before.send?.lost.aborted) log({ event: 'sending.lost' })
    if (before.work?.lost.aborted) log({ event: 'work.lost' })
  }

  /** Closes the current leased side and starts a new one with these leases. */
  async function change(next: Held): Promise<void> {
    const before = { side, held }
    held = {}
    // Its further steps are refused by the terms. Its work stands in the ledger for the new side.
    await before.side.close()
    void before.side.drain().catch((err) => log({ event: 'work.failed', err }))
    side = await make(next)
    if (next.send) await side.resume()
    held = next
    isBroken = false
    side.startLoops()
    tell(before.held)
  }

  async function giveUp({ send, work }: Held): Promise<void> {
    held = {}
    isBroken = true
    await Promise.all([send?.release(), work?.release()])
  }

  async function look(): Promise<void> {
    let next = await takeMore(held)
    const isOld = deps.isOld() && next.work !== undefined
    if (next.send === held.send && next.work === held.work && !isOld && !isBroken) return
    try {
      if (isOld) {
        // The current side may be about to record events of the time that the copy lacks. New terms refuse them.
        await giveUp(next)
        next = await takeMore(held)
        if (next.work) await deps.acceptCopy(next.work)
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
    isSending: () => held.send !== undefined,
    isWorking: () => held.work !== undefined,
    start() {
      side.startLoops()
      tell({})
      if (leases.holder === undefined) return
      const onFailure = (err: unknown) => log({ event: 'work.failed', err })
      looking = startLoop({ round: look, clock, periodMs: pollMs, onFailure })
    },
    async drain() {
      await looking?.stop()
      await side.drain()
    },
    async close() {
      void looking?.stop()
      await side.close()
      await Promise.allSettled([held.work?.release(), held.send?.release()])
    },
  }
}

/** Returns the leases that were held and are not lost, and those that are free. */
function createTakeMore(leases: Leases, account: Address): (before: Held) => Promise<Held> {
  const kept = (lease: Lease | undefined) => (lease?.lost.aborted ? undefined : lease)
  return async (before) => {
    const send = kept(before.send) ?? (await leases.take(sendLease(account)))
    if (!send) {
      // The daemon that sends now waits for it.
      await before.work?.release()
      return {}
    }
    return { send, work: kept(before.work) ?? (await leases.take(workLease)) }
  }
}

export const inUse = (): SvcError =>
  new SvcError('ledger_locked', 'storage.url: other daemons use this ledger; stop them first')
