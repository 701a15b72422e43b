/** Records a mint that is deep enough: the payment is finalized. */
import type { Ledger } from '../ledger-port.js'
import type { AwaitingMint, Mint } from '../records.js'
import type { FinalizeEvent, MintVerifier } from './ports.js'
import type { Progress } from './progress.js'
import type { Step } from './round.js'

/** Undefined when the payment has another burn to mint. */
export type RecordMint = (payment: AwaitingMint) => Promise<Step | undefined>

export function createRecordMint(deps: {
  readonly ledger: Pick<Ledger, 'finalize'>
  readonly verifier: Pick<MintVerifier, 'findMint'>
  readonly progress: Progress
  readonly report: (event: FinalizeEvent) => void
  /** Looks for the transaction of a mint, before the verifier's word alone counts. */
  readonly mintLooksMax: number
}): RecordMint {
  const { progress } = deps

  async function record(payment: AwaitingMint): Promise<Step | undefined> {
    const challengeNonce = payment.challenge.nonce
    const isLastLook = (await progress.schedule.failures(challengeNonce)) >= deps.mintLooksMax - 1
    let found: Mint | undefined
    try {
      found = await deps.verifier.findMint(payment)
    } catch (err) {
      if (!isLastLook) throw err
    }
    // A node may have dropped its logs, but the contract itself says that the payment is minted.
    if (!found && !isLastLook) return progress.failed(challengeNonce, 'mint_not_found', undefined)
    const { value } = payment.burn
    const recorded = await deps.ledger.finalize(challengeNonce, found ?? { value }, value)
    await progress.forget(challengeNonce)
    // A larger burn was found at the address meanwhile. That burn has its turn in another round.
    if (recorded === 'outgrown') return undefined
    if (recorded === 'finalized') deps.report({ event: 'payment.finalized', challengeNonce })
    return 'finalized'
  }

  return async (payment) => {
    const { nonce } = payment.challenge
    if (progress.recording.has(nonce)) return 'confirming'
    progress.recording.add(nonce)
    try {
      return await record(payment)
    } finally {
      progress.recording.delete(nonce)
    }
  }
}
