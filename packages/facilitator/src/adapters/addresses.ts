/** One-time burn addresses: mined ahead in threads of their own, handed out once. */
import { type ChallengeNonce, parseAddress } from '@svc-zerc20/protocol'
import { createAddressMiner, createAddressPool } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { AddressSource, Clock } from '../payment/ports.js'

export type Addresses = AddressSource & {
  ready(): number
  readonly target: number
  close(): Promise<void>
}

export function createAddresses(deps: {
  readonly config: Config
  readonly seed: Uint8Array
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Clock
  readonly onError: (err: unknown) => void
}): Addresses {
  const { config, seed, random, clock, onError } = deps
  const miner = createAddressMiner({ threads: 1 })
  const pool = createAddressPool({
    miner,
    random,
    clock,
    seed,
    treasury: config.settlement.treasury,
    chainId: config.network.chain_id,
    generation: config.zerc20.generation,
    powBits: config.zerc20.pow_bits,
    targetSize: config.zerc20.pool_size,
    onError,
  })
  return {
    async take(waitMs) {
      const ready = await pool.take(waitMs)
      const payTo = parseAddress(ready?.payTo)
      return ready && payTo && { ...ready, payTo, challengeNonce: ready.challengeNonce as ChallengeNonce }
    },
    ready: pool.size,
    target: config.zerc20.pool_size,
    async close() {
      pool.close()
      await miner.close()
    },
  }
}
