/**
 * Keeps the back of this daemon in step with the lease of the work: whoever gets the lease takes the work up, and whoever
 * loses it puts its back away. Between the two a daemon has a back that does nothing, for those who ask how things stand.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { limits } from '../config/limits.js'
import type { Clock } from '../payment/ports.js'
import type { Lease, Leases } from '../store/lease.js'
import type { Log } from '../telemetry/events.js'
import type { Back } from './back.js'

/** The lease of everything that one daemon at a time does for a ledger. */
export const workLease = 'work'

export type BackKeeper = {
  current(): Back
  /** Whether this daemon does the work. */
  isWorking(): boolean
  /** From now on the work is done, taken and lost. */
  start(): void
  drain(): Promise<void>
  close(): Promise<void>
}

export async function keepBack(deps: {
  readonly leases: Leases
  readonly make: (lease: Lease | undefined) => Promise<Back>
  /** The ledger must be put right first, which only the one that works may do. */
  readonly isCopy: boolean
  /** Puts a copy right. */
  readonly acceptCopy: () => Promise<void>
  readonly clock: Clock
  readonly log: Log
}): Promise<BackKeeper> {
  const { leases, make, clock, log } = deps
  const closing = new AbortController()
  let lease = await (deps.isCopy ? takeInTime(leases, clock) : leases.take(workLease))
  if (lease) await deps.acceptCopy()
  let back = await make(lease)
  if (lease) await back.resume()

  async function takeUp(taken: Lease): Promise<void> {
    const fresh = await make(taken)
    try {
      await fresh.resume()
    } catch (error) {
      fresh.close()
      throw error
    }
    const before = back
    back = fresh
    lease = taken
    before.close()
    fresh.startLoops()
    tell(taken)
  }

  async function putDown(): Promise<void> {
    lease = undefined
    log({ event: 'work.lost' })
    const before = back
    // Steps that it still tries are refused by the term.
    before.close()
    void before.drain().catch((err) => log({ event: 'work.failed', err }))
    back = await make(undefined)
  }

  async function look(): Promise<void> {
    if (lease?.lost.aborted) return putDown()
    if (lease) return
    const taken = await leases.take(workLease)
    if (!taken) return
    await takeUp(taken).catch(async (error) => {
      await taken.release()
      throw error
    })
  }

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(limits.leaseLookMs, closing.signal)
      if (closing.signal.aborted) return
      await look().catch((err) => log({ event: 'work.failed', err }))
    }
  }

  function tell({ fence }: Lease): void {
    if (fence) log({ event: 'work.taken', term: fence.term })
  }

  let keeping: Promise<void> | undefined
  return {
    current: () => back,
    isWorking: () => lease !== undefined,
    start() {
      if (lease) {
        back.startLoops()
        tell(lease)
      } else log({ event: 'work.elsewhere' })
      if (leases.holder !== undefined) keeping = keep()
    },
    async drain() {
      closing.abort()
      await keeping
      await back.drain()
    },
    async close() {
      closing.abort()
      back.close()
      await lease?.release().catch(() => undefined)
    },
  }
}

export const inUse = (): SvcError =>
  new SvcError('journal_locked', 'storage.url: other daemons use this ledger; stop them first')

/** Waits for a daemon that may have died. Throws `SvcError('journal_locked')` while another one works. */
async function takeInTime(leases: Leases, clock: Clock): Promise<Lease> {
  for (let waited = 0; waited <= 2 * limits.leaseMs; waited += limits.leaseLookMs) {
    const lease = await leases.take(workLease)
    if (lease) return lease
    await clock.sleep(limits.leaseLookMs)
  }
  throw inUse()
}
