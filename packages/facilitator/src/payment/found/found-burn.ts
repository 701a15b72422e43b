/** Burns that were found on the chain: whether a block still holds one, and the record of one that buys nothing. */
import type { RereadBurn } from '../finalize/ports.js'
import type { Ledger } from '../ledger-port.js'
import type { Burn, Challenge, LateReason } from '../records.js'
import type { Report } from '../report.js'

export type OnChainDeps = {
  readonly reread: RereadBurn
  /** Blocks, its own included, that must hold a transfer before it counts. */
  readonly depth: number
}

/**
 * True when the block in which a transfer was found still holds it, deep enough. A transfer may have been found on a
 * fork that is no more, and the node may be behind. Throws when the node cannot tell.
 */
export async function isOnChain(deps: OnChainDeps, challenge: Challenge, found: Burn): Promise<boolean> {
  const read = await deps.reread(challenge, found)
  const isSame = read?.burn.blockHash === found.blockHash && read.burn.leafIndex === found.leafIndex
  return isSame && read.depth >= deps.depth
}

/** Records a burn that buys nothing, and tells the operator why. Only a burn that was late is called late. */
export async function recordFound(
  { ledger, report }: { readonly ledger: Pick<Ledger, 'recordLate'>; readonly report: Report },
  challenge: Challenge,
  burn: Burn,
  reason: LateReason,
): Promise<'recorded' | 'known' | 'claimed'> {
  const outcome = await ledger.recordLate(challenge, burn, reason)
  if (outcome !== 'recorded') return outcome
  const { nonce: challengeNonce } = challenge
  const { txHash, value } = burn
  if (reason === 'late') report({ event: 'burn.late', challengeNonce, txHash })
  else report({ event: 'burn.found', challengeNonce, txHash, value, reason })
  return outcome
}
