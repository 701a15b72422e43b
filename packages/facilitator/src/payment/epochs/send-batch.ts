/** Proves a batch under a root and sends its mint. */
import type { FinalizeEvent, ProvedRoot } from '../finalize/ports.js'
import type { Progress } from '../finalize/progress.js'
import { type Round, waitForMint } from '../finalize/round.js'
import type { Clock, Minter, MintOutcome } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { Batch, BatchPorts } from './ports.js'

/** `elapsed`: it is sent, and its block has not come yet. */
export type BatchEnd = 'mined' | 'elapsed' | 'cut_off' | 'failed'

/** `payments` are all payments that wait for this batch or a later one; those of its own leaves are minted by it. */
export type SendBatch = (
  batch: Batch,
  payments: readonly AwaitingMint[],
  root: ProvedRoot,
  round: Round,
) => Promise<BatchEnd>

export function createSendBatch(deps: {
  readonly prove: BatchPorts['prove']
  readonly minter: Pick<Minter, 'mint'>
  readonly progress: Progress
  readonly clock: Clock
  readonly report: (event: FinalizeEvent) => void
  /** How long a round waits for the block of one mint. */
  readonly mintWaitMs: number
}): SendBatch {
  const { clock, report, progress } = deps

  function end(payments: readonly AwaitingMint[], outcome: MintOutcome): BatchEnd {
    if (outcome.kind === 'mined') {
      for (const { challenge } of payments) report({ event: 'mint.mined', challengeNonce: challenge.nonce })
      return 'mined'
    }
    const { why: reason, err } = outcome
    report({ event: 'batch.failed', payments: payments.length, reason, err })
    for (const { challenge } of payments) progress.waits.set(challenge.nonce, reason)
    return 'failed'
  }

  return async (batch, waiting, root, round) => {
    const places = new Set(batch.leaves.map(({ burn }) => burn.leafIndex))
    const own = waiting.filter(({ burn }) => places.has(burn.leafIndex))
    const payments = own.length
    const crowd = batch.end - batch.start
    report({ event: 'batch.proving', payments, others: batch.leaves.length - payments, crowd })
    const startedAt = clock.now()
    const call = await deps.prove(batch, root, round.signal)
    report({ event: 'batch.proved', payments, ms: clock.now() - startedAt })
    // A proof that counts old burns again mints for nobody. It is on record for one of those that wait for the next, or
    // for one that it counts.
    const served = own.length > 0 ? own : [...waiting, ...batch.leaves].slice(0, 1)
    const minted = deps.minter.mint({ ...call, nonces: served.map(({ challenge }) => challenge.nonce) })
    const outcome = await waitForMint(deps, minted, round)
    if (outcome === 'cut_off') return outcome
    if (outcome !== 'elapsed') return end(own, outcome)
    // However it ends, the next round sees on the chain how far it got.
    minted.then((late) => end(own, late)).catch(() => undefined)
    return outcome
  }
}
