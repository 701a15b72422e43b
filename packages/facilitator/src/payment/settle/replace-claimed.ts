/**
 * The presented transfer may be gone: a reorg dropped it, and its payer's wallet had sent the same payment
 * again with a higher fee, under another hash. The other transfer at the address then pays for the claim.
 */
import { type ChallengeNonce, Payload, type TxHash } from '@svc-zerc20/protocol'
import { isOnChain, type OnChainDeps } from '../found/found-burn.js'
import type { Ledger } from '../ledger-port.js'
import type { Burn, Challenge, RecordedPayment } from '../records.js'
import { acceptedEvent, type Report } from '../report.js'

/** A hash that no block has: the block of a transfer that was not accepted yet is unknown. */
const noBlock = `0x${'0'.repeat(64)}`

/** True when another of these transfers was accepted. Throws when the node cannot tell what became of the first. */
export async function replaceClaimed(
  deps: OnChainDeps & { readonly ledger: Pick<Ledger, 'accept'>; readonly report: Report },
  challenge: Challenge,
  payment: RecordedPayment | undefined,
  transfers: readonly Burn[],
): Promise<boolean> {
  const { claim, accepted, demoted } = payment ?? {}
  if (!claim?.txHash || accepted) return false
  const { txHash } = claim
  const { nonce, amount } = challenge
  const isTransfer = [txHash, ...transfers.map((transfer) => transfer.txHash)].some(
    (hash) => identityOf(nonce, hash) === claim.identity,
  )
  // A permit belongs to the burner, which sends it again itself.
  if (!isTransfer) return false
  const covering = transfers.filter(({ value }) => value >= amount)
  const [other] = covering.toSorted((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0))
  if (!other || covering.some((transfer) => transfer.txHash === txHash)) return false
  // The node has the block of the other transfer, so it is not behind. A transfer that it does not show is
  // gone.
  const lost = demoted?.burn ?? { ...other, txHash, blockHash: noBlock }
  if (await deps.reread(challenge, lost)) return false
  // The other transfer buys nothing until it is so deep that a reorg does not take it as easily.
  if (!(await isOnChain(deps, challenge, other))) return false
  if ((await deps.ledger.accept(nonce, other)) !== 'accepted') return false
  deps.report(acceptedEvent(challenge, other))
  return true
}

const identityOf = (challengeNonce: ChallengeNonce, burnTxHash: TxHash): string =>
  Payload.identity({ kind: 'self-transfer', challengeNonce, burnTxHash })
