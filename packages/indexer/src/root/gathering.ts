/** Unproved transfers wait for more transfers: a proof costs the same for one as for many. */
import { type Clock, zeroAddress } from '@svc-zerc20/protocol'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import { transfersBetween } from './root-step.js'

export type Gathering = {
  /** Whether transfers beyond the proved ones have waited long enough. */
  isRipe(provedIndex: number): boolean
  /** A root was submitted. The remaining transfers begin to wait now. */
  restart(): void
}

export function createGathering(deps: {
  database: Database
  clock: Pick<Clock, 'now'>
  gatherMs: number
  mintGatherMs: number
}): Gathering {
  const { database, clock, gatherMs, mintGatherMs } = deps
  let pendingSince: number | undefined

  /** Whether all unproved transfers are mints. False when there are more than one reservation covers. */
  function areMints(provedIndex: number, size: number): boolean {
    const end = Math.min(size, provedIndex + limits.leavesPerReservation)
    const first = transfersBetween(database, provedIndex, end)
    return end === size && first.every(({ from }) => from === zeroAddress)
  }

  return {
    isRipe(provedIndex) {
      const { size } = database.head()
      if (provedIndex >= size) {
        pendingSince = undefined
        return false
      }
      pendingSince ??= clock.now()
      const patienceMs = areMints(provedIndex, size) ? mintGatherMs : gatherMs
      return clock.now() - pendingSince >= patienceMs
    },
    restart() {
      pendingSince = undefined
    },
  }
}
