/** Transfers that nobody presents, wired: followed, accounted for and shown, round by round or in a loop. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import { createRereadBurn } from '../chain/reread-burn.js'
import type { Config } from '../config/config.js'
import { limits } from '../limits.js'
import type { Clock } from '../payment/ports.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { type AccountTransfers, createAccountTransfers } from '../transfers/account.js'
import { createFollow } from '../transfers/follow.js'
import { createTokenChain } from '../transfers/token-chain.js'
import type { ChainSide } from './chain-side.js'
import { wireIndexer } from './finalization.js'
import type { Storage } from './storage.js'

export type Following = {
  /** Follows and accounts for what was found, each as far as it gets. */
  round(signal: AbortSignal): Promise<FollowedRound>
  readonly stuck: AccountTransfers['stuck']
  /** Runs rounds until it is closed. */
  startLoop(): void
  close(): Promise<void>
}

export type FollowedRound = {
  /** Whose burns were put on record. */
  readonly recorded: readonly ChallengeNonce[]
  /** Followed to the newest block that is deep enough, and no address is left to look at now. */
  readonly isDone: boolean
  readonly failures: readonly unknown[]
}

/** Smaller transfers cost more gas to mint than they bring, in the operator's own words. */
export const dustBelow = ({ settlement }: Config): bigint => {
  const least: bigint = settlement.min_amount ?? 0n
  const relayed: bigint = settlement.relay_min_amount ?? 0n
  return relayed < least ? least : relayed
}

/** Nobody waits for a transfer that was found: it may be as deep as a mint. */
export const foundDepth = ({ settlement, finalize }: Config): number =>
  Math.max(settlement.confirmations, finalize.confirmations)

export function createFollowing(deps: {
  readonly config: Config
  readonly chainSide: ChainSide
  readonly storage: Storage
  readonly clock: Clock
  readonly telemetry: Telemetry
}): Following {
  const { config, chainSide, storage, clock, telemetry } = deps
  const { network, settlement, daemon, zerc20 } = config
  const { issued, ledger } = storage
  const { store } = issued
  const depth = foundDepth(config)
  const follow = createFollow({
    store,
    ledger,
    durable: issued.durable,
    chain: createTokenChain({ ...chainSide, token: network.token, ...limits }),
    indexer: wireIndexer(config),
    generation: zerc20.generation,
    deployedBlock: network.deployed_block,
    depth,
    clock,
    report: telemetry.log,
    limits,
  })
  const account = createAccountTransfers({
    store,
    ledger,
    reread: createRereadBurn(chainSide),
    depth,
    clock,
    report: telemetry.log,
    dustBelow: dustBelow(config),
    mintsSecond: settlement.mint_second_transfers,
    addressesPerRoundMax: limits.foundAddressesPerRoundMax,
  })
  let stuckAddresses = 0
  let stuckCountedAt = Number.NEGATIVE_INFINITY
  telemetry.metrics.source('svc_followed_block', follow.followedBlock)
  telemetry.metrics.source('svc_stuck_transfers', () => stuckAddresses)

  async function forget(): Promise<void> {
    const before = clock.now() / 1000 - settlement.issued_retention_days * daySeconds
    await store.forget(Math.floor(before), limits.addressesForgottenAtOnce, account.matter)
  }

  /** Every kept transfer is read for it: not in every round. */
  async function countStuck(): Promise<void> {
    if (clock.now() - stuckCountedAt < limits.stuckCountedEveryMs) return
    stuckAddresses = (await account.stuck(Number.POSITIVE_INFINITY)).length
    stuckCountedAt = clock.now()
  }

  /** A chain that cannot be read keeps nobody from being accounted for, and the other way round. */
  async function round(signal: AbortSignal): Promise<FollowedRound> {
    const failures: unknown[] = []
    const attempt = async <T>(stage: Promise<T>): Promise<T | undefined> =>
      stage.catch((error: unknown) => {
        signal.throwIfAborted()
        failures.push(error)
        return undefined
      })
    const followed = await attempt(follow.round(signal))
    const accounted = await attempt(account.round(signal))
    await attempt(forget())
    await attempt(countStuck())
    const [due] = await store.due(Math.floor(clock.now() / 1000), 1)
    return {
      recorded: accounted?.recorded ?? [],
      isDone: followed === 'followed' && due === undefined,
      failures: [...failures, ...(accounted?.failures ?? [])],
    }
  }

  const stopping = new AbortController()
  async function run(): Promise<void> {
    const { signal } = stopping
    const periodMs = daemon.follow_interval_ms
    for (let failures = 0; !signal.aborted; ) {
      try {
        const [err, ...more] = (await round(signal)).failures
        if (err === undefined) failures = 0
        else
          throw more.length === 0
            ? err
            : new AggregateError([err, ...more], `${err}, and ${more.length} more`)
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
