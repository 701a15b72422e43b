/** A reorg took the burn of a payment that was accepted, and perhaps served. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Ledger } from './ledger-port.js'
import type { Report } from './report.js'

/**
 * Takes the payment back to where it waits for a burn. The operator hears of it, whoever notices first: the watch of the
 * relayer, or a round of finalization, which alone sees what becomes of a payer's own transfer.
 */
export async function demote(
  deps: {
    readonly ledger: Pick<Ledger, 'demote'>
    readonly report: Report
  },
  nonce: ChallengeNonce,
): ReturnType<Ledger['demote']> {
  const end = await deps.ledger.demote(nonce)
  if (end !== 'not_accepted') deps.report({ event: 'burn.reorged', challengeNonce: nonce })
  return end
}
