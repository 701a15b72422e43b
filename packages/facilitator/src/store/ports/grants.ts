/** Grants: one success for each accepted payment. A caller holds the grant, and uses it once its answer was written. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Grant, Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'

export function createGrants(deps: {
  readonly find: Ledger['find']
  /** Records that the answers of these payments were written. */
  readonly use: (nonces: readonly ChallengeNonce[]) => Promise<void>
  readonly clock: Pick<Clock, 'sleep'>
}): Pick<Ledger, 'find' | 'takeGrant'> {
  const { find, use, clock } = deps
  /** Grants that a caller holds, each with the callers that wait for it, in order. */
  const held = new Map<ChallengeNonce, (() => void)[]>()
  /** Used grants that the disk did not take yet: nobody is served, and the next grant that is used writes them again. */
  const unrecorded = new Set<ChallengeNonce>()

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
        unrecorded.add(nonce)
        letGo()
        const nonces = [...unrecorded]
        await use(nonces)
        for (const each of nonces) unrecorded.delete(each)
      },
      async giveBack() {
        if (held.has(nonce)) letGo()
      },
    }
  }

  /** Holds the grant first and looks then, so that nobody uses it in between. */
  async function take(nonce: ChallengeNonce): ReturnType<Ledger['takeGrant']> {
    if (unrecorded.has(nonce)) return 'used'
    const grant = hold(nonce)
    const { granted, accepted } = (await find(nonce).catch(async (error) => {
      await grant.giveBack()
      throw error
    })) ?? { granted: false }
    if (accepted && !granted) return { ...grant, accepted }
    await grant.giveBack()
    return granted ? 'used' : 'not_accepted'
  }

  return {
    /** A grant that is used counts at once: nobody may be told that the payment is still good while it is recorded. */
    async find(nonce) {
      const isUsed = unrecorded.has(nonce)
      const payment = await find(nonce)
      return payment && isUsed ? { ...payment, granted: true } : payment
    },

    async takeGrant(nonce, boundMs) {
      const waited = new AbortController()
      const elapsed = clock.sleep(boundMs, waited.signal).then(() => 'elapsed' as const)
      try {
        for (;;) {
          const line = held.get(nonce)
          if (!line) return await take(nonce)
          const ended = new Promise<void>((resolve) => line.push(resolve))
          if ((await Promise.race([ended, elapsed])) === 'elapsed') return 'held'
        }
      } finally {
        waited.abort()
      }
    },
  }
}
