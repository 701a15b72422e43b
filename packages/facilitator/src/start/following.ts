/** Transfers that nobody presents, wired: followed, accounted for and shown. */
import { createRereadBurn } from '../chain/reread-burn.js'
import { type AccountForTransfers, createAccountForTransfers } from '../chain/transfers/account-for.js'
import { createFollow, type Follow } from '../chain/transfers/follow.js'
import { createTransferRound } from '../chain/transfers/round.js'
import { createStuckCount, createStuckTransfers, type StuckTransfers } from '../chain/transfers/stuck.js'
import { createTokenChain } from '../chain/transfers/token-chain.js'
import { limits } from '../config/limits.js'
import { dustBelow, foundDepth, issuedRetentionSeconds } from '../config/settings.js'
import { type Loop, startLoop } from '../payment/loop.js'
import type { Parts } from './parts.js'

export type Following = {
  readonly stuck: StuckTransfers
  /** Runs rounds until it is closed. */
  startLoop(): void
  close(): Promise<void>
}

export function createFollowing(parts: Parts): Following {
  const { config, clock, telemetry } = parts
  const store = parts.storage.issued
  const follow = wireFollow(parts)
  const accountFor = wireAccountFor(parts)
  const stuck = createStuckTransfers({ store, clock })
  const stuckCount = createStuckCount(stuck, clock)
  const retentionSeconds = issuedRetentionSeconds(config)
  const round = createTransferRound({
    store,
    follow,
    accountFor,
    stuckCount,
    clock,
    retentionSeconds,
    dustBelow: dustBelow(config),
    ...limits,
  })
  telemetry.metrics.source('svc_stuck_transfers', stuckCount.last)
  let loop: Loop | undefined
  return {
    stuck,
    startLoop() {
      const periodMs = config.daemon.follow_interval_ms
      const backOffMaxMs = periodMs * limits.finalizeBackOffPeriodsMax
      const onFailure = (err: unknown) => telemetry.log({ event: 'follow.failed', err })
      loop = startLoop({ round, clock, periodMs, backOffMaxMs, onFailure })
    },
    async close() {
      await loop?.stop()
    },
  }
}

function wireFollow({ config, chainSide, storage, clock, telemetry }: Parts): Follow {
  const { network } = config
  return createFollow({
    store: storage.issued,
    chain: createTokenChain(chainSide.rpc, network.token),
    deployedBlock: network.deployed_block,
    depth: foundDepth(config),
    clock,
    report: telemetry.log,
  })
}

const wireAccountFor = ({ config, chainSide, storage, clock, telemetry }: Parts): AccountForTransfers =>
  createAccountForTransfers({
    store: storage.issued,
    ledger: storage.ledger,
    reread: createRereadBurn(chainSide),
    depth: foundDepth(config),
    clock,
    report: telemetry.log,
    dustBelow: dustBelow(config),
    addressesPerRoundMax: limits.foundAddressesPerRoundMax,
  })
