/** The daemons that share a ledger, and which of them does what. */
import { limits } from '../../config/limits.js'
import { type Step, serverNow, sql } from '../sql.js'
import type { Store } from '../store.js'

export type Fleet = {
  readonly daemons: readonly {
    readonly name: string
    /** The daemon that was asked. */
    readonly here: boolean
    readonly alive: boolean
    /** Since its last sign of life. */
    readonly silentSeconds: number
  }[]
  readonly leases: readonly {
    readonly name: string
    readonly term: number
    /** Absent while nobody holds it. */
    readonly holder?: string
  }[]
}

/** Undefined for a ledger that no other daemon can reach. */
export function createFleet({
  ask,
  leases: { holder },
}: Pick<Store, 'ask' | 'leases'>): (() => Promise<Fleet>) | undefined {
  return holder === undefined ? undefined : () => ask(fleetOf(holder))
}

function* fleetOf(asked: string): Step<Fleet> {
  const daemons = yield sql`SELECT holder, ${serverNow} - alive_ms AS silent_ms FROM daemon ORDER BY holder`
  const leases =
    yield sql`SELECT name, term, holder, until_ms > ${serverNow} AS is_held FROM lease ORDER BY name`
  return {
    daemons: daemons.map(({ holder, silent_ms }) => ({
      name: holder,
      here: holder === asked,
      alive: silent_ms < limits.leaseMs,
      silentSeconds: Math.max(0, Math.floor(silent_ms / 1000)),
    })),
    leases: leases.map(({ name, term, holder, is_held }) => ({ name, term, ...(is_held && { holder }) })),
  }
}
