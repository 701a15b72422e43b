/** Grants: one success for each accepted payment. A caller holds the grant, and uses it once its answer was written. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Grant, Ledger } from '../payment/ledger-port.js'
import type { LedgerCore } from './core.js'

export function createGrants(core: Pick<LedgerCore, 'state' | 'log' | 'clock'>): Pick<Ledger, 'takeGrant'> {
  const { state, log, clock } = core
  /** Grants that a caller holds, each with the callers that wait for it, in order. */
  const held = new Map<ChallengeNonce, (() => void)[]>()
  /** Used grants whose record the disk refused. The next grant that is used writes them again. */
  const unrecorded: ChallengeNonce[] = []

  async function record(nonces: readonly ChallengeNonce[]): Promise<void> {
    const recorded = nonces.map((nonce) =>
      log.append({ event: 'grant_used', nonce }).catch((error: unknown) => {
        unrecorded.push(nonce)
        throw error
      }),
    )
    // Waits for all records, even if one fails: a step that ended must have nothing on its way to the disk.
    const ends = await Promise.allSettled(recorded)
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  function hold(nonce: ChallengeNonce): Grant {
    held.set(nonce, [])
    const letGo = () => {
      const line = held.get(nonce)
      held.delete(nonce)
      for (const next of line ?? []) next()
    }
    return {
      async use() {
        if (!held.has(nonce)) return
        // In memory at once: the next caller must not be served, whatever the disk says.
        try {
          state.apply({ event: 'grant_used', nonce })
        } finally {
          letGo()
        }
        await record([nonce, ...unrecorded.splice(0)])
      },
      async giveBack() {
        if (held.has(nonce)) letGo()
      },
    }
  }

  return {
    async takeGrant(nonce, boundMs) {
      const waited = new AbortController()
      const elapsed = clock.sleep(boundMs, waited.signal).then(() => 'elapsed' as const)
      try {
        for (;;) {
          const { granted, accepted } = state.findWithoutMint(nonce) ?? {}
          if (granted) return 'used'
          if (!accepted) return 'not_accepted'
          const line = held.get(nonce)
          if (!line) return { ...hold(nonce), accepted }
          const ended = new Promise<void>((resolve) => line.push(resolve))
          if ((await Promise.race([ended, elapsed])) === 'elapsed') return 'held'
        }
      } finally {
        waited.abort()
      }
    },
  }
}
