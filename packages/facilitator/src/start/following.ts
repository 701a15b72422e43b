/** Transfers that nobody presents, wired: followed, accounted for and shown, round by round or in a loop. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { createRereadBurn } from '../adapters/reread-burn.js'
import type { Config } from '../config/config.js'
import { limits } from '../limits.js'
import type { Clock } from '../payment/ports.js'
import { backOffMs } from '../payment/retries.js'
import { type AccountTransfers, createAccountTransfers } from '../transfers/account.js'
import { createFollow } from '../transfers/follow.js'
import { createTokenChain } from '../transfers/token-chain.js'
import type { ChainSide } from './chain-side.js'
import { wireIndexer } from './finalization.js'
import type { Telemetry } from './operation.js'
import type { Storage } from './storage.js'

export type Following = {
  /** Follows to the newest block that is deep enough; says whose burns that put on record. */
  round(signal: AbortSignal): Promise<readonly ChallengeNonce[]>
  readonly stuck: AccountTransfers['stuck']
  /** Runs rounds until it is closed. */
  startLoop(): void
  close(): Promise<void>
}

/** Smaller transfers cost more gas to mint than they bring, in the operator's own words. */
export const dustBelow = ({ settlement }: Config): bigint => {
  const least: bigint = settlement.min_amount ?? 0n
  const relayed: bigint = settlement.relay_min_amount ?? 0n
  return relayed < least ? least : relayed
}

export function createFollowing(deps: {
  readonly config: Config
  readonly chainSide: ChainSide
  readonly storage: Storage
  readonly clock: Clock
  readonly telemetry: Telemetry
}): Following {
  const { config, chainSide, storage, clock, telemetry } = deps
  const { network, settlement, daemon, finalize, zerc20 } = config
  const { issued, ledger } = storage
  const { store } = issued
  const follow = createFollow({
    store,
    ledger,
    chain: createTokenChain({ ...chainSide, token: network.token, ...limits }),
    indexer: wireIndexer(config),
    generation: zerc20.generation,
    deployedBlock: network.deployed_block,
    // Nobody waits for these: they may be as deep as a mint.
    depth: Math.max(settlement.confirmations, finalize.confirmations),
    clock,
    report: telemetry.log,
    limits: { ...limits, rewindBlocks: limits.followRewindBlocks },
  })
  const account = createAccountTransfers({
    store,
    ledger,
    reread: createRereadBurn(chainSide),
    clock,
    report: telemetry.log,
    dustBelow: dustBelow(config),
    addressesPerRoundMax: limits.foundAddressesPerRoundMax,
  })
  let stuckAddresses = 0
  telemetry.metrics.source('svc_followed_block', follow.followedBlock)
  telemetry.metrics.source('svc_stuck_transfers', () => stuckAddresses)

  async function round(signal: AbortSignal): Promise<readonly ChallengeNonce[]> {
    await issued.durable()
    await follow.round(signal)
    const recorded = await account.round(signal)
    const forgottenBefore = clock.now() / 1000 - settlement.issued_retention_days * daySeconds
    await store.forget(Math.floor(forgottenBefore), limits.addressesForgottenAtOnce)
    stuckAddresses = (await account.stuck(Number.POSITIVE_INFINITY)).length
    return recorded
  }

  const stopping = new AbortController()
  async function run(): Promise<void> {
    const { signal } = stopping
    const periodMs = daemon.follow_interval_ms
    for (let failures = 0; !signal.aborted; ) {
      try {
        await round(signal)
        failures = 0
      } catch (err) {
        failures += 1
        if (!signal.aborted) telemetry.log({ event: 'follow.failed', err })
      }
      const backOffMaxMs = periodMs * limits.finalizeBackOffPeriodsMax
      await clock.sleep(failures === 0 ? periodMs : backOffMs(failures, periodMs, backOffMaxMs), signal)
    }
  }

  let running: Promise<void> | undefined
  return {
    round,
    stuck: account.stuck,
    startLoop() {
      running = run()
    },
    async close() {
      stopping.abort()
      await running
    },
  }
}

const daySeconds = 86_400
