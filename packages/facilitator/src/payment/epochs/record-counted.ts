/** Records payments whose burns were counted, deep enough: the provider has the money, and they are finalized. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { FinalizeEvent } from '../finalize/ports.js'
import type { Progress } from '../finalize/progress.js'
import type { Ledger } from '../ledger-port.js'
import type { AwaitingMint, Mint } from '../records.js'
import type { Epoch } from './epoch.js'
import type { BatchPorts, CountedBatch } from './ports.js'

/** The payments are counted. Returns those that are on record as finalized now. */
export type RecordCounted = (
  epoch: Epoch,
  payments: readonly AwaitingMint[],
) => Promise<ReadonlySet<ChallengeNonce>>

export function createRecordCounted(deps: {
  readonly ledger: Pick<Ledger, 'finalize'>
  readonly findCounts: BatchPorts['findCounts']
  readonly progress: Progress
  readonly report: (event: FinalizeEvent) => void
  /** Looks for the transactions of counts, before the verifier's word alone counts. */
  readonly mintLooksMax: number
}): RecordCounted {
  const { progress, report } = deps
  const looks = new Map<ChallengeNonce, number>()

  async function recordOne(
    { challenge, burn }: AwaitingMint,
    counts: readonly CountedBatch[],
  ): Promise<boolean> {
    const { nonce } = challenge
    const found = counts.findLast(({ start, end }) => start <= burn.leafIndex && burn.leafIndex < end)
    const looked = (looks.get(nonce) ?? 0) + 1
    looks.set(nonce, looked)
    // A node may have dropped its logs, but the contract itself says that the burn is counted.
    if (!found && looked < deps.mintLooksMax) return false
    looks.delete(nonce)
    const mint: Mint = {
      value: burn.value,
      ...(found && { txHash: found.txHash, blockNumber: found.blockNumber }),
    }
    const recorded = await deps.ledger.finalize(nonce, mint, burn.value)
    await progress.forget(nonce)
    if (recorded === 'finalized') report({ event: 'payment.finalized', challengeNonce: nonce })
    // A larger burn was found at the address meanwhile. That burn has its turn in another round.
    return recorded !== 'outgrown'
  }

  return async (epoch, payments) => {
    const done = new Set<ChallengeNonce>()
    // A round and `confirm` may come upon the same payment.
    const free = payments.filter(({ challenge }) => !progress.recording.has(challenge.nonce))
    if (free.length === 0) return done
    for (const { challenge } of free) progress.recording.add(challenge.nonce)
    try {
      const counts = await deps.findCounts(epoch, firstBlockOf(free)).catch(() => [])
      for (const payment of free) if (await recordOne(payment, counts)) done.add(payment.challenge.nonce)
      return done
    } finally {
      for (const { challenge } of free) progress.recording.delete(challenge.nonce)
    }
  }
}

const firstBlockOf = (payments: readonly AwaitingMint[]): bigint =>
  BigInt(Math.min(...payments.map(({ burn }) => Number(burn.blockNumber))))
