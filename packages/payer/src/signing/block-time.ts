/** The block time of the chain, measured over its latest blocks. */
import type { Clock } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'

/** Number and time of a block. */
export type BlockTime = { readonly number: bigint; readonly timestamp: bigint }

/**
 * Seconds per block, rounded up and bounded. Never rejects: a failed measurement counts as the slowest block
 * time.
 */
export type BlockSeconds = () => Promise<number>

export function createBlockSeconds({
  readBlock,
  clock,
  limits,
}: {
  readonly readBlock: (number: bigint | 'latest') => Promise<BlockTime>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'blockSample' | 'blockSecondsMax' | 'blockTimeMsMax'>
}): BlockSeconds {
  let measured: { readonly seconds: number; readonly untilMs: number } | undefined

  async function measure(): Promise<number> {
    const latest = await readBlock('latest')
    const span = Math.min(Number(latest.number), limits.blockSample)
    if (span === 0) return limits.blockSecondsMax
    const earlier = await readBlock(latest.number - BigInt(span))
    const seconds = Math.ceil(Number(latest.timestamp - earlier.timestamp) / span)
    return Math.min(Math.max(seconds, 1), limits.blockSecondsMax)
  }

  return async () => {
    if (measured && clock.now() < measured.untilMs) return measured.seconds
    try {
      const seconds = await measure()
      measured = { seconds, untilMs: clock.now() + limits.blockTimeMsMax }
      return seconds
    } catch {
      return limits.blockSecondsMax
    }
  }
}
