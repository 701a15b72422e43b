/** Nonces of login messages that were used, in the store. */
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { Store } from '../store.js'

export type UsedNonces = ReturnType<typeof createUsedNonces>

export const createUsedNonces = (
  { change }: Pick<Store, 'change'>,
  /** Each address has its own bound, so that one participant cannot lock out the other. */
  usedMax: number = limits.usedLoginNoncesMax,
) => ({
  /**
   * Of several callers with one nonce, exactly one sees `taken`. `full` when too many of this address are remembered: a replay
   * could not be told any more.
   */
  take: (nonce: string, expiresAt: UnixSeconds, address: Address) =>
    change('useLogin', nonce, expiresAt, address, usedMax),
  /** Lets the nonce be used again: nobody got in with it. */
  giveBack: (nonce: string) => change('giveBackLogin', nonce).catch(() => undefined),
})
