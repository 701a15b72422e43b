/**
 * Burns that an account signed whose daemon is gone. Its bytes can be sent again by anybody; only their price cannot be
 * raised. They are sent, with all that has a lower txNonce, until a block holds the burn, or none can any more.
 */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { Ledger, Orphaned } from '../ledger-port.js'
import type { ClaimedPermit } from '../records.js'
import type { Report } from '../report.js'
import type { Burns } from './burns.js'
import type { Examine } from './examine.js'

export function createOrphans(deps: {
  readonly ledger: Pick<Ledger, 'find' | 'orphaned' | 'release'>
  readonly burns: Pick<Burns, 'start' | 'isUnderWay'>
  readonly examine: Pick<Examine, 'permit' | 'isLost'>
  /** Hands what an account signed to the node, as far as no block holds it. The node may know it. */
  readonly send: (orphaned: Orphaned) => Promise<void>
  /** From now on the daemon of this account signs nothing before it has read again what it recorded. */
  readonly fence: (account: Address) => Promise<void>
  readonly report: Report
}): (account: Address) => Promise<void> {
  const { ledger, burns, examine, report } = deps

  /** Burns that a reorg took, and that no block can hold any more. */
  const lost = new Set<ChallengeNonce>()

  async function end(item: ClaimedPermit): Promise<void> {
    const { challenge, payload } = item
    const { nonce: challengeNonce } = challenge
    if (burns.isUnderWay(challengeNonce) || lost.has(challengeNonce)) return
    const examined = await examine.permit(challenge, payload)
    if (examined.ok && examined.value.verdict === 'burned') return burns.start(item, 'burned')
    if (examined.ok || !(await examine.isLost(item, examined))) return
    const { reason, message } = examined
    const isReleased = (await ledger.release(challengeNonce, { reason, message })) === 'released'
    if (isReleased) return report({ event: 'burn.failed', challengeNonce, reason })
    if (!(await ledger.find(challengeNonce))?.demoted) return
    lost.add(challengeNonce)
    report({ event: 'burn.lost', challengeNonce, reason })
  }

  return async (account) => {
    const senders = (await ledger.orphaned(account)).map((orphaned) => orphaned.account)
    if (senders.length === 0) return
    // A daemon that is gone may only be late. It must not wake up and use the txNonces of bytes that are sent here.
    for (const gone of senders) await deps.fence(gone)
    for (const orphaned of await ledger.orphaned(account)) {
      await deps.send(orphaned)
      for (const item of orphaned.items) await end(item)
    }
  }
}
