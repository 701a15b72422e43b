/** One-time burn addresses: mined ahead in threads of their own, handed out once. */
import { type ChallengeNonce, parseAddress } from '@svc-zerc20/protocol'
import { seedFingerprint } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import { reservedPercentOf } from '../config/sellers.js'
import { createShares } from '../payment/issue/shares.js'
import type { AddressSource, Clock } from '../payment/ports.js'
import { epochsOf } from './epochs.js'
import { addressFileOf, createAddressStore } from './mined-file.js'
import { createAddressMiner } from './mining/miner.js'
import { createAddressPool, type PoolFigures } from './pool.js'

export type Addresses = AddressSource & {
  ready(): number
  readonly target: number
  figures(): PoolFigures
  close(): Promise<void>
}

export function createAddresses(deps: {
  readonly config: Config
  readonly seed: Uint8Array
  /** The ledger that the addresses are made for. */
  readonly ledgerId: string
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Clock
  readonly onError: (err: unknown) => void
}): Addresses {
  const { config, seed, random, clock, onError } = deps
  const miner = createAddressMiner({ threads: 1 })
  const { journal } = config.settlement
  const pool = createAddressPool({
    miner,
    random,
    clock,
    seed,
    treasury: config.settlement.treasury,
    chainId: config.network.chain_id,
    generation: config.zerc20.generation,
    powBits: config.zerc20.pow_bits,
    epochAt: epochsOf(config, deps.ledgerId),
    targetSize: config.zerc20.pool_size,
    shares: createShares({
      capacity: config.zerc20.pool_size,
      reservedPercent: reservedPercentOf(config),
      promisedTo: () => 0,
    }),
    // Without a journal everything is forgotten on a restart, these addresses included.
    ...(journal !== 'none' && { store: createAddressStore(addressFileOf(journal), seedFingerprint(seed)) }),
    onError,
  })
  return {
    async take(waitMs, asker) {
      const ready = await pool.take(waitMs, asker)
      const payTo = parseAddress(ready?.payTo)
      return ready && payTo && { ...ready, payTo, challengeNonce: ready.challengeNonce as ChallengeNonce }
    },
    giveBack: pool.giveBack,
    ready: pool.size,
    target: config.zerc20.pool_size,
    figures: pool.figures,
    async close() {
      await pool.close()
      await miner.close()
    },
  }
}
