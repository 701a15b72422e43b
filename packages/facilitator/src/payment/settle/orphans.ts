/**
 * Burns that an account signed whose daemon is gone. Its bytes can be sent again by anybody; only their price cannot be
 * raised. They are sent until a block holds the burn, or none can any more.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Chain } from '../ports.js'
import type { ClaimedPermit } from '../records.js'
import type { Report } from '../report.js'
import type { Burns } from './burns.js'
import type { Examine } from './examine.js'

export function createOrphans(deps: {
  readonly ledger: Pick<Ledger, 'orphaned' | 'release'>
  readonly burns: Pick<Burns, 'start' | 'isUnderWay'>
  readonly examine: Pick<Examine, 'permit'>
  readonly chain: Pick<Chain, 'headNumber' | 'blockTime'>
  /** Hands signed bytes to the node. The node may know them. */
  readonly send: (raw: `0x${string}`) => Promise<void>
  /** From now on the daemon of this account signs nothing before it has read again what it recorded. */
  readonly fence: (account: Address) => Promise<void>
  readonly confirmations: number
  readonly report: Report
}): (account: Address) => Promise<void> {
  const { ledger, burns, examine, chain, report } = deps

  /** Whether no block to come can hold the burn, and no reorg brings one back that could. */
  async function isOver({ challenge }: ClaimedPermit): Promise<boolean> {
    const deepTime = await chain.blockTime(chain.headNumber() - BigInt(deps.confirmations))
    return deepTime !== undefined && challenge.deadline !== undefined && deepTime > challenge.deadline
  }

  async function end(item: ClaimedPermit): Promise<void> {
    const { challenge, payload } = item
    if (burns.isUnderWay(challenge.nonce)) return
    const examined = await examine.permit(challenge, payload)
    if (examined.ok && examined.value.verdict === 'burned') return burns.start(item, 'burned')
    if (examined.ok || !(await isOver(item))) return
    const { reason, message } = examined
    await ledger.release(challenge.nonce, { reason, message })
    report({ event: 'burn.failed', challengeNonce: challenge.nonce, reason })
  }

  return async (account) => {
    const senders = (await ledger.orphaned(account)).flatMap(({ transactions: [form] }) => form?.from ?? [])
    if (senders.length === 0) return
    // A daemon that is gone may only be late. It must not wake up and use the txNonces of bytes that are sent here.
    for (const gone of new Set(senders)) await deps.fence(gone)
    for (const { transactions, items } of await ledger.orphaned(account)) {
      const newest = transactions.at(-1)
      if (newest) await deps.send(newest.raw)
      for (const item of items) await end(item)
    }
  }
}
