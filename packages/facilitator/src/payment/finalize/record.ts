/** Records mints that are deep enough: the provider has the money, and the payments are finalized. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Epoch } from '../epochs/epoch.js'
import type { BatchPorts } from '../epochs/ports.js'
import type { Ledger } from '../ledger-port.js'
import type { AwaitingMint, Mint } from '../records.js'
import type { Report } from '../report.js'
import type { MintVerifier } from './ports.js'
import type { Progress } from './progress.js'

/** `outgrown`: a larger burn was found at the address meanwhile, which is minted in another round. */
export type RecordEnd = 'finalized' | 'outgrown' | 'failed' | 'confirming'

export type RecordMints = ReturnType<typeof createRecordMints>

export function createRecordMints(deps: {
  readonly ledger: Pick<Ledger, 'finalize'>
  readonly verifier: Pick<MintVerifier, 'findMint'>
  readonly findCounts: BatchPorts['findCounts']
  readonly progress: Progress
  readonly report: Report
  /** Looks for the transaction of a mint, before the verifier's word alone counts. */
  readonly mintReadsMax: number
}) {
  const { progress } = deps
  /** A round and `confirm` may come upon the same payment. */
  const recording = new Set<ChallengeNonce>()

  async function record(
    { challenge, burn }: AwaitingMint,
    find: () => Promise<Mint | undefined>,
  ): Promise<RecordEnd> {
    const { nonce } = challenge
    const { count } = await progress.schedule.failuresOf(nonce)
    const isLastRead = count >= deps.mintReadsMax - 1
    const found = await find().catch((err) => {
      if (!isLastRead) throw err
      return undefined
    })
    // A node may have dropped its logs, but the contract itself says that the payment is minted.
    if (!found && !isLastRead) return progress.failed(nonce, 'mint_not_found', undefined)
    const recorded = await deps.ledger.finalize(nonce, found ?? { value: burn.value }, burn.value)
    await progress.forget(nonce)
    if (recorded === 'outgrown') return 'outgrown'
    if (recorded === 'finalized') deps.report({ event: 'payment.finalized' })
    return 'finalized'
  }

  async function once(payment: AwaitingMint, find: () => Promise<Mint | undefined>): Promise<RecordEnd> {
    const { nonce } = payment.challenge
    if (recording.has(nonce)) return 'confirming'
    recording.add(nonce)
    return record(payment, find).finally(() => recording.delete(nonce))
  }

  return {
    /** A payment with its own proof. */
    one: (payment: AwaitingMint) => once(payment, () => deps.verifier.findMint(payment)),

    /** Payments of an epoch that were counted. */
    async counted(
      epoch: Epoch,
      payments: readonly AwaitingMint[],
    ): Promise<ReadonlyMap<ChallengeNonce, RecordEnd>> {
      const ends = new Map<ChallengeNonce, RecordEnd>()
      if (payments.length === 0) return ends
      const counts = await deps.findCounts(epoch, firstBlockOf(payments)).catch(() => [])
      for (const payment of payments) {
        const { leafIndex, value } = payment.burn
        const found = counts.findLast(({ start, end }) => start <= leafIndex && leafIndex < end)
        const mint = found && { value, txHash: found.txHash, blockNumber: found.blockNumber }
        ends.set(payment.challenge.nonce, await once(payment, async () => mint))
      }
      return ends
    },
  }
}

const firstBlockOf = (payments: readonly AwaitingMint[]): bigint =>
  BigInt(Math.min(...payments.map(({ burn }) => Number(burn.blockNumber))))
