/** A reorg took the burn of a payment that was accepted, and perhaps served. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Ledger } from './ledger-port.js'
import type { Report } from './report.js'

/**
 * Makes the payment wait for a burn again, and tells the operator. Either the relayer's watch notices the reorg, or a round of
 * finalization, which alone looks at transfers that payers sent themselves.
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
