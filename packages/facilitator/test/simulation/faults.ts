/** The faults and the operator's terms of one seed. */
import type { ChainFaults } from './chain.js'
import type { Terms } from './daemon.js'
import type { Draws } from './draws.js'
import type { NodeFaults } from './node.js'
import type { ShopFaults } from './shop.js'
import type { StoreFaults } from './store-link.js'

type WorldFaults = {
  /** Pauses between two of each, in milliseconds; zero for never. */
  killEveryMs: number
  /** Share of deaths after which a daemon does not come back, as long as another one does. */
  deadForGood: number
  stopEveryMs: number
  reorgEveryMs: number
  reorgDepthMax: number
  evictEveryMs: number
  usurpEveryMs: number
  skewMs: number
}

export type Faults = ChainFaults & NodeFaults & StoreFaults & ShopFaults & WorldFaults

/** Every seed has some of the faults, each as bad as it draws. */
export function drawFaults(draws: Draws, { finalizeConfirmations }: Terms): Faults {
  const some = (share: number, most: number) => (draws.happens(share) ? draws.fraction() * most : 0)
  const every = (share: number, least: number, most: number) =>
    draws.happens(share) ? draws.between(least, most) : 0
  return {
    leftOut: some(0.5, 0.6),
    forgottenByReorg: some(0.5, 0.6),
    otherFormInReorg: some(0.5, 0.5),
    priceJumps: some(0.4, 0.3),
    delayMs: draws.oneOf([2, 20, 200]),
    lost: some(0.4, 0.08),
    lagging: some(0.5, 0.5),
    lagMs: draws.between(1_000, 12_000),
    refused: some(0.3, 0.05),
    lateReceipts: some(0.5, 0.8),
    lyingHeads: some(0.3, 0.1),
    forgotten: some(0.4, 0.5),
    refusedSends: some(0.3, 0.4),
    storeDelayMs: draws.oneOf([1, 3, 30]),
    stepsRefused: some(0.3, 0.05),
    stepsUnanswered: some(0.3, 0.05),
    killedAtSteps: some(0.5, 0.03),
    stoppedAtSteps: some(0.3, 0.05),
    answersLost: some(0.5, 0.3),
    impatient: some(0.4, 0.3),
    killEveryMs: every(0.5, 5_000, 30_000),
    deadForGood: some(0.6, 1),
    stopEveryMs: every(0.2, 10_000, 30_000),
    reorgEveryMs: every(0.6, 3_000, 20_000),
    // Final blocks are not taken back: the operator has chosen so many blocks.
    reorgDepthMax: draws.between(1, finalizeConfirmations - 1),
    evictEveryMs: every(0.4, 3_000, 20_000),
    usurpEveryMs: every(0.2, 10_000, 30_000),
    skewMs: draws.happens(0.4) ? draws.between(-5_000, 5_000) : 0,
  }
}

export function drawTerms(draws: Draws): Terms {
  return {
    confirmations: draws.oneOf([1, 1, 2, 3]),
    finalizeConfirmations: draws.between(2, 6),
    reorgWatchBlocks: draws.between(10, 24),
    ttlSeconds: draws.oneOf([20, 60, 120]),
    receiptPollMs: draws.oneOf([1_000, 5_000, 15_000]),
    periodMs: draws.oneOf([2_000, 5_000, 10_000]),
    delayMaxMs: draws.oneOf([0, 20_000]),
  }
}

/** Ends all faults, and every wait for an answer with them. */
export function calm(faults: Faults): void {
  for (const name of Object.keys(faults) as (keyof Faults)[]) faults[name] = 0
}
