/** Says how long this machine takes to make addresses ready. Too slow a pool turns payers away. */
import type { Clock } from '@svc-zerc20/protocol'
import { deriveBurn, findPowNonce, hexOf } from '@svc-zerc20/zk'
import type { PartialConfig } from '../../../config/config.js'
import { type Finding, ok, warn } from '../../../config/finding.js'
import { limits } from '../../../config/limits.js'

export function probePool(
  { zerc20 }: Pick<PartialConfig, 'zerc20'>,
  /** Measures this machine, for a tenth of a second. */
  clock: Pick<Clock, 'now'>,
): Finding[] {
  const { pow_bits: bits, pool_size: size } = zerc20
  if (bits === undefined || size === undefined) return []
  const perSecond = triesPerSecond(clock)
  if (perSecond === undefined) return []
  const seconds = 2 ** bits / perSecond
  const message = `is ${bits}: an address takes about ${show(seconds)} on this machine, and a pool of ${size} is full after ${show(seconds * size)}`
  const tell = seconds * size > limits.poolFillWarnSeconds ? warn : ok
  return [tell('zerc20.pow_bits', message)]
}

/** Undefined when the clock does not move. */
function triesPerSecond(clock: Pick<Clock, 'now'>): number | undefined {
  const burn = deriveBurn({
    generation: 2,
    // Too many bits to be found in so few tries.
    powBits: 32,
    chainId: 1,
    treasury: hexOf(new Uint8Array(20)),
    seed: new Uint8Array(32),
    challengeNonce: hexOf(new Uint8Array(32)),
  })
  const { poolTries: maxTries, poolSlices } = limits
  // The first tries compile the code.
  findPowNonce(burn, { startNonce: 0, maxTries })
  const startedAt = clock.now()
  for (let startNonce = maxTries; startNonce <= poolSlices * maxTries; startNonce += maxTries) {
    findPowNonce(burn, { startNonce, maxTries })
  }
  const elapsedMs = clock.now() - startedAt
  return elapsedMs > 0 ? (poolSlices * maxTries * 1000) / elapsedMs : undefined
}

function show(seconds: number): string {
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`
}
