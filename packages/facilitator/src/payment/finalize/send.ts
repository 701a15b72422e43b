/** Proves payments under a root and sends their mints; takes up mints that an earlier run signed. */
import type { Clock } from '@svc-zerc20/protocol'
import type { Batch, BatchPorts } from '../epochs/ports.js'
import type { Ledger } from '../ledger-port.js'
import type { MintCall, Minter, MintOutcome } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import type { MintVerifier, ProvedRoot, ProveMint } from './ports.js'
import type { Progress, Round } from './progress.js'

/** `confirming`: it is sent, and its block has not come yet. `interrupted`: the round was cut off. */
export type SendEnd = 'mined' | 'confirming' | 'interrupted' | 'failed'

export type SendMints = ReturnType<typeof createSendMints>

export function createSendMints(deps: {
  readonly verifier: Pick<MintVerifier, 'mintStates'>
  readonly prove: ProveMint
  readonly proveBatch: BatchPorts['prove']
  readonly minter: Pick<Minter, 'mint'>
  readonly progress: Progress
  readonly clock: Clock
  readonly report: Report
  /** How long a round waits for the block of one mint. */
  readonly mintWaitMs: number
}) {
  const { progress, clock, report } = deps

  /**
   * Waits for the block of a mint, but not for ever: reorged burns would go unnoticed meanwhile. A mint that goes on is
   * reported by the minter as under way, and nobody sends another; the end is heard all the same. Mints that were sent when a
   * round is cut off is on record, and the next run resumes it.
   */
  async function send(
    call: MintCall,
    { signal }: Pick<Round, 'signal'>,
    end: (outcome: MintOutcome) => Promise<SendEnd>,
  ): Promise<SendEnd> {
    const minted = deps.minter.mint(call)
    const bound = new AbortController()
    const cutShort = () => bound.abort()
    if (signal.aborted) cutShort()
    signal.addEventListener('abort', cutShort)
    const waited = clock
      .sleep(deps.mintWaitMs, bound.signal)
      .then(() => (signal.aborted ? 'cut_off' : 'elapsed'))
    const outcome = await Promise.race([minted, waited]).finally(() => {
      cutShort()
      // The signal lives as long as the daemon, so the listener ends with the wait.
      signal.removeEventListener('abort', cutShort)
    })
    if (outcome === 'cut_off') return 'interrupted'
    if (outcome !== 'elapsed') return end(outcome)
    minted
      .catch((err): MintOutcome => ({ kind: 'failed', why: 'unavailable', err }))
      .then((late) => (signal.aborted ? undefined : end(late)))
      // If the schedule cannot be reached, the next round comes upon the payment again.
      .catch(() => undefined)
    return 'confirming'
  }

  async function endOne(payment: AwaitingMint, outcome: MintOutcome): Promise<SendEnd> {
    const challengeNonce = payment.challenge.nonce
    if (outcome.kind === 'failed') {
      const [state] = outcome.why === 'would_revert' ? await deps.verifier.mintStates([payment]) : []
      // Somebody else sent the mint while we proved.
      if (state === 'shallow' || state === 'minted') return 'confirming'
      return progress.failed(challengeNonce, outcome.why, outcome.err)
    }
    await progress.schedule.succeeded(challengeNonce)
    report({ event: 'mint.mined' })
    return 'mined'
  }

  function endBatch(payments: readonly AwaitingMint[], outcome: MintOutcome): SendEnd {
    if (outcome.kind === 'mined') {
      for (const _ of payments) report({ event: 'mint.mined' })
      return 'mined'
    }
    const { why: reason, err } = outcome
    report({ event: 'batch.failed', payments: payments.length, reason, err })
    for (const { challenge } of payments) progress.waits.set(challenge.nonce, reason)
    return 'failed'
  }

  return {
    async one(payment: AwaitingMint, root: ProvedRoot, round: Round): Promise<SendEnd> {
      const challengeNonce = payment.challenge.nonce
      const company = round.companyOf(payment.burn.value)
      report({ event: 'mint.proving', leaves: root.size, company })
      progress.waits.set(challengeNonce, 'proving')
      const startedAt = clock.now()
      const call = await deps.prove(payment, root, round.signal)
      report({ event: 'mint.proved', ms: clock.now() - startedAt })
      progress.waits.set(challengeNonce, 'confirming')
      return send(call, round, (outcome) => endOne(payment, outcome))
    },

    /** `waiting` are all payments that wait for this batch or a later one; those of its own leaves are minted by it. */
    async batch(
      batch: Batch,
      waiting: readonly AwaitingMint[],
      root: ProvedRoot,
      round: Round,
    ): Promise<SendEnd> {
      const places = new Set(batch.leaves.map(({ burn }) => burn.leafIndex))
      const own = waiting.filter(({ burn }) => places.has(burn.leafIndex))
      const payments = own.length
      report({ event: 'batch.proving', payments, ...crowdOf(batch), others: batch.leaves.length - payments })
      const startedAt = clock.now()
      const call = await deps.proveBatch(batch, root, round.signal)
      report({ event: 'batch.proved', payments, ms: clock.now() - startedAt })
      // A proof that counts old burns again mints for nobody. It is on record for one of those that wait for the next, or
      // for one that it counts.
      const served = own.length > 0 ? own : [...waiting, ...batch.leaves].slice(0, 1)
      const nonces = served.map(({ challenge }) => challenge.nonce)
      return send({ ...call, nonces }, round, async (outcome) => endBatch(own, outcome))
    },
  }
}

const crowdOf = ({ leaves, start, end }: Batch) => ({
  payers: new Set(leaves.map(({ burn }) => burn.from)).size,
  crowd: end - start,
})

/** Hands mints that an earlier run signed back to the minter, before the relayer assigns new txNonces. */
export async function resumeMints(deps: {
  readonly ledger: Pick<Ledger, 'interrupted'>
  readonly minter: Pick<Minter, 'resume'>
  readonly report: Report
}): Promise<void> {
  const { minter, report } = deps
  for (const interrupted of (await deps.ledger.interrupted()).mints) {
    // However the mint ends, the next round sees on the chain how far it got.
    minter.resume(interrupted).catch((err) => report({ event: 'finalize.failed', err }))
    for (const _ of interrupted.nonces) report({ event: 'mint.resumed' })
  }
}
