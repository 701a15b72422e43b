/** Says how long this machine takes to make addresses ready. Too slow a pool turns payers away. */
import { deriveBurn, findPowNonce, hexOf } from '@svc-zerc20/zk'
import type { PartialConfig } from '../../../config/config.js'
import type { Finding } from '../../../config/finding.js'
import type { Clock } from '../../../payment/ports.js'
import { checkLimits } from '../limits.js'

const key = 'zerc20.pow_bits'

/**
 * @param demanded The bits that the proving keys demand, where they are known.
 * @param clock By which this machine is measured. Without it, only too many bits are told.
 */
export function probePool(
  { zerc20 }: Pick<PartialConfig, 'zerc20'>,
  demanded: number | undefined,
  clock: Pick<Clock, 'now'> | undefined,
): Finding[] {
  const { pow_bits: bits, pool_size: size, generation = 2 } = zerc20
  if (bits === undefined || size === undefined) return []
  const surplus =
    demanded !== undefined && bits > demanded ? `; the proving keys demand only ${demanded} bits` : ''
  const perSecond = clock && triesPerSecond(generation, clock)
  if (perSecond === undefined)
    return surplus === '' ? [] : [{ level: 'warn', key, message: `is ${bits}${surplus}` }]
  const seconds = 2 ** bits / perSecond
  const pace = `is ${bits}: an address takes about ${show(seconds)} on this machine, and a pool of ${size} is full after ${show(seconds * size)}`
  const isSlow = seconds * size > checkLimits.poolFillWarnSeconds
  return [{ level: isSlow || surplus !== '' ? 'warn' : 'ok', key, message: `${pace}${surplus}` }]
}

/** Undefined when the clock does not move. */
function triesPerSecond(generation: 1 | 2, clock: Pick<Clock, 'now'>): number | undefined {
  const burn = deriveBurn({
    generation,
    // So many that none is found in so few tries.
    powBits: 32,
    chainId: 1,
    treasury: hexOf(new Uint8Array(20)),
    seed: new Uint8Array(32),
    challengeNonce: hexOf(new Uint8Array(32)),
  })
  const { poolTries: maxTries } = checkLimits
  // The first tries compile the code.
  findPowNonce(burn, { startNonce: 0, maxTries })
  const startedAt = clock.now()
  for (let startNonce = maxTries; startNonce <= checkLimits.poolSlices * maxTries; startNonce += maxTries) {
    findPowNonce(burn, { startNonce, maxTries })
  }
  const elapsedMs = clock.now() - startedAt
  return elapsedMs > 0 ? (checkLimits.poolSlices * maxTries * 1000) / elapsedMs : undefined
}

function show(seconds: number): string {
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`
}
