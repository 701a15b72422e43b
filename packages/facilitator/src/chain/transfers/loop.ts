/** Runs rounds over the token's transfers: one a period, later and later while they fail. */
import { backOffMs } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { TransferRound } from './round.js'

export type TransferLoop = {
  /** Ends the loop; resolves when the round under way has ended. */
  stop(): Promise<void>
}

export function startTransferLoop(deps: {
  readonly round: TransferRound
  readonly clock: Clock
  readonly periodMs: number
  /** Failures never make the loop slower than this. */
  readonly backOffMaxMs: number
  readonly onFailure: (err: unknown) => void
}): TransferLoop {
  const { clock, periodMs, backOffMaxMs } = deps
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const err = await failureOf(deps.round, signal)
      failures = err === undefined ? 0 : failures + 1
      if (err !== undefined && !signal.aborted) deps.onFailure(err)
      await clock.sleep(failures === 0 ? periodMs : backOffMs(failures, periodMs, backOffMaxMs), signal)
    }
  }

  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** Runs one round. Several failures of a round are told as one. */
async function failureOf(round: TransferRound, signal: AbortSignal): Promise<unknown> {
  try {
    const [first, ...more] = (await round(signal)).failures
    return more.length === 0
      ? first
      : new AggregateError([first, ...more], `${first}, and ${more.length} more`)
  } catch (err) {
    return err
  }
}
