/** Records a burn that buys nothing, and tells the operator why. Only a burn that was late is called late. */

import type { Ledger } from '../ledger-port.js'
import type { Burn, Challenge, LateReason } from '../records.js'
import type { Report } from '../report.js'

export async function recordFound(
  { ledger, report }: { readonly ledger: Pick<Ledger, 'recordLate'>; readonly report: Report },
  challenge: Challenge,
  burn: Burn,
  reason: LateReason,
): Promise<void> {
  if ((await ledger.recordLate(challenge, burn, reason)) === 'known') return
  const { nonce: challengeNonce } = challenge
  const { txHash, value } = burn
  if (reason === 'late') report({ event: 'burn.late', challengeNonce, txHash })
  else report({ event: 'burn.found', challengeNonce, txHash, value, reason })
}
