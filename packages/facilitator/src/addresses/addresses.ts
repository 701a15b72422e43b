/** One-time burn addresses: mined ahead in their own threads, handed out once. */
import type { Clock } from '@svc-zerc20/protocol'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import { termsOf } from './address-maker.js'
import { epochsOf } from './epochs.js'
import { createAddressMiner } from './miner.js'
import { type AddressPool, createAddressPool } from './pool.js'
import type { SharedAddresses } from './shared-stock.js'
import type { AddressStore } from './stock.js'

export function createAddresses(deps: {
  readonly config: Config
  readonly seed: Uint8Array
  /** The ledger that the addresses are made for. */
  readonly ledgerId: string
  /** Keeps them over restarts. */
  readonly store: AddressStore
  /** Keeps them for several daemons, instead. */
  readonly shared?: SharedAddresses | undefined
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Clock
  readonly onError: (err: unknown) => void
}): AddressPool {
  const { config, seed, random, clock, onError } = deps
  const miner = createAddressMiner({ threads: 1 })
  const pool = createAddressPool({
    miner,
    random,
    clock,
    ...termsOf(config, seed),
    epochAt: epochsOf(config, deps.ledgerId),
    targetSize: config.zerc20.pool_size,
    keptForSellers:
      config.sellers.length > 0 ? Math.floor(config.zerc20.pool_size * limits.poolSellersShare) : 0,
    ...(deps.shared ? { shared: deps.shared } : { store: deps.store }),
    onError,
  })
  return {
    ...pool,
    async close() {
      await pool.close()
      await miner.close()
    },
  }
}
