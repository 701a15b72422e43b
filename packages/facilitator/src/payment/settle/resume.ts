/** Takes up the work that a crash interrupted: transactions first, then claims that had none yet. */

import type { Address } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import { acceptedEvent, type Report } from '../report.js'
import type { Burns } from './burns.js'
import type { Examine } from './examine.js'

export async function createResume(deps: {
  ledger: Pick<Ledger, 'interrupted' | 'accept'>
  burns: Pick<Burns, 'takeUp' | 'resume' | 'watchForReorg'>
  examine: Pick<Examine, 'selfTransfer'>
  report: Report
  /** The account whose work is taken up, where several send. */
  account?: Address | undefined
}) {
  const { ledger, burns, examine, report } = deps
  const { transactions, shallow, unsigned, transfers } = await ledger.interrupted(deps.account)
  return {
    /**
     * Hands every signed transaction back to the relayer, those of accepted burns to its watch for reorgs; before the
     * relayer assigns new txNonces.
     */
    resumeTransactions(): void {
      for (const relayed of shallow) burns.watchForReorg(relayed)
      for (const interrupted of transactions) {
        burns.resume(interrupted)
        for (const { challenge } of interrupted.items) {
          report({ event: 'burn.resumed', challengeNonce: challenge.nonce })
        }
      }
    },

    /**
     * Judges claims without a transaction again: they are burned, found burned, or released. A transfer of the payer's
     * own is accepted when the chain holds it, and stays claimed for its payload otherwise.
     */
    async restartClaims(): Promise<void> {
      for (const claim of unsigned) {
        await burns.takeUp(claim)
        report({ event: 'burn.resumed', challengeNonce: claim.challenge.nonce })
      }
      for (const { challenge, payload } of transfers) {
        const burn = await examine.selfTransfer(challenge, payload)
        if (!burn.ok) continue
        if ((await ledger.accept(challenge.nonce, burn.value)) !== 'accepted') continue
        report(acceptedEvent(challenge, burn.value))
      }
    },
  }
}
