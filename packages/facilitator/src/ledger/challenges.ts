/** Issuing challenges, and finding them again. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Ledger } from '../payment/ledger-port.js'
import type { LedgerCore } from './core.js'

export function createChallenges(core: LedgerCore): Pick<Ledger, 'isFull' | 'issue' | 'find'> {
  const { state, log, open, issued } = core

  function isFull(key?: string): boolean {
    core.sweep()
    return !open.hasRoom(key)
  }

  return {
    isFull: async (key) => isFull(key),

    async issue(challenge, key) {
      if (isFull(key)) return 'limit'
      issued?.assertRoom()
      const { nonce } = challenge
      if (state.find(nonce)) throw new SvcError('nonce_reused', 'a challenge nonce came up twice')
      const event = { event: 'challenge_issued', challenge } as const
      state.apply(event)
      open.add(challenge, key)
      try {
        await log.append(event)
      } catch (error) {
        open.delete(nonce)
        state.forget(nonce)
        throw error
      }
      issued?.add(challenge)
      return 'issued'
    },

    async find(nonce) {
      core.sweep()
      const payment = state.findWithoutMint(nonce)
      return payment && core.isForgotten(payment) ? undefined : payment
    },
  }
}
