/** Runs rounds of finalization as long as they make progress, then ends. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Finalize } from '../../payment/finalize/finalize.js'
import type { FinalizeEvent } from '../../payment/finalize/ports.js'
import { count, type RoundEnd, type Step } from '../../payment/finalize/round.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'

/** Resolves with the last step of every payment that a round looked at. */
export async function finalizeAll(deps: {
  readonly finalize: Pick<Finalize, 'round'>
  readonly ledger: Pick<Ledger, 'awaitingMint'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly report: (event: FinalizeEvent) => void
  readonly limits: {
    readonly recoverPauseMs: number
    /** Rounds in a row without progress before it ends: while something fails, and while mints wait for depth. */
    readonly recoverFailedRoundsMax: number
    readonly recoverStillRoundsMax: number
  }
}): Promise<RoundEnd> {
  const { finalize, ledger, clock, signal, limits } = deps
  const last = new Map<ChallengeNonce, Step>()
  let stillRounds = 0

  async function oneRound(): Promise<RoundEnd | undefined> {
    try {
      return await finalize.round(signal)
    } catch (err) {
      deps.report({ event: 'finalize.failed', err })
      return undefined
    }
  }

  function mayMove(end: RoundEnd | undefined): boolean {
    if (count(last, 'confirming', 'mined') > 0) return stillRounds < limits.recoverStillRoundsMax
    // A payment that failed backs off and is left out of rounds meanwhile.
    const isRetried = end === undefined || end.size === 0 || count(last, 'failed') > 0
    return isRetried && stillRounds < limits.recoverFailedRoundsMax
  }

  while (!signal.aborted && (await isAnyLeft(ledger))) {
    const end = await oneRound()
    for (const [nonce, step] of end ?? []) last.set(nonce, step)
    stillRounds = end && count(end, 'finalized', 'mined') > 0 ? 0 : stillRounds + 1
    if (stillRounds > 0 && !mayMove(end)) break
    await clock.sleep(limits.recoverPauseMs, signal)
  }
  return last
}

async function isAnyLeft(ledger: Pick<Ledger, 'awaitingMint'>): Promise<boolean> {
  for await (const _ of ledger.awaitingMint()) return true
  return false
}
