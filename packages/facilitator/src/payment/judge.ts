/**
 * Facts in, verdict out. Verify and settle share these judges, so they cannot disagree, and no chain is
 * needed to test them. Checks stand in the precedence order of the table of reasons.
 */
import {
  type Address,
  accept,
  type Json,
  Network,
  type Payload,
  parseAddress,
  parseBaseUnits,
  parseChallengeNonce,
  type Rejection,
  type Result,
  reject,
  type TxHash,
} from '@svc-zerc20/protocol'
import type {
  Burn,
  Challenge,
  Deployment,
  PermitChainFacts,
  SelfTransferChainFacts,
  TransferLog,
} from './ports.js'

/** Rule 1: the requirements are untrusted; five fields must equal our own record. */
export function judgeRequirements(
  requirements: Json.JsonObject,
  challenge: Challenge,
  deployment: Deployment,
): Rejection | undefined {
  const extra = requirements.extra as Json.JsonObject | undefined | null
  const equal: Record<string, boolean> = {
    network: Network.parseChainId(requirements.network) === deployment.chainId,
    asset: parseAddress(requirements.asset) === deployment.token,
    payTo: parseAddress(requirements.payTo) === challenge.payTo,
    amount: parseBaseUnits(requirements.amount) === challenge.amount,
    'extra.challengeNonce': parseChallengeNonce(extra?.challengeNonce) === challenge.nonce,
  }
  const differing = Object.keys(equal).filter((field) => !equal[field])
  return differing.length === 0
    ? undefined
    : reject('requirements_mismatch', `differs from the issued challenge: ${differing.join(', ')}`)
}

export type PermitFacts = {
  readonly chain: PermitChainFacts
  readonly permitSigner: Address | undefined
  readonly burnAuthorizationSigner: Address | undefined
}

/** What can be said of a permit before the chain is asked. */
export function judgePermitForm(challenge: Challenge, payload: Payload.PermitPayload): Rejection | undefined {
  if (challenge.deadline === undefined) return reject('permit_not_offered')
  if (payload.permit.value !== challenge.amount) return reject('value_mismatch')
  if (payload.permit.deadline !== BigInt(challenge.deadline)) return reject('deadline_mismatch')
  return undefined
}

export type PermitVerdict = 'burnable' | 'burned'

/** `burned` when the replay ledger on chain already holds this burn: there is nothing left to broadcast. */
export function judgePermit(
  challenge: Challenge,
  payload: Payload.PermitPayload,
  facts: PermitFacts,
): Result<PermitVerdict> {
  const { chain, permitSigner, burnAuthorizationSigner } = facts
  const isPastDeadline = challenge.deadline !== undefined && chain.timestamp > challenge.deadline
  // A burn that happened in time stays good; its signatures are still checked below.
  if (isPastDeadline && !chain.executed) return reject('deadline_passed')
  if (permitSigner === undefined || burnAuthorizationSigner === undefined) {
    return chain.payerIsContract ? reject('contract_payer') : reject('invalid_signature')
  }
  if (permitSigner !== payload.payer || burnAuthorizationSigner !== payload.payer) {
    return chain.payerIsContract ? reject('contract_payer') : reject('signer_mismatch')
  }
  if (chain.executed) return accept('burned')
  // A permit that a stranger already submitted has used its nonce and left the allowance: still good.
  const nonceIsLive = chain.permitNonce === payload.permit.nonce
  const alreadyPermitted = chain.permitNonce > payload.permit.nonce && chain.allowance >= challenge.amount
  if (!nonceIsLive && !alreadyPermitted) return reject('permit_nonce_stale')
  if (chain.balance < challenge.amount) return reject('insufficient_funds')
  return accept('burnable')
}

/** The burn of a self-transfer, or why the named transaction does not pay this challenge. */
export function judgeSelfTransfer(
  challenge: Challenge,
  txHash: TxHash,
  facts: SelfTransferChainFacts,
  confirmations: number,
): Result<Burn> {
  const { receipt } = facts
  if (!receipt) return reject('burn_not_found')
  if (!receipt.succeeded) return reject('burn_reverted')
  const paid = receipt.transfers.filter((transfer) => transfer.to === challenge.payTo)
  const covering = largest(paid)
  if (!covering) return reject('burn_mismatch')
  if (covering.value < challenge.amount) {
    const total = paid.reduce((sum, transfer) => sum + transfer.value, 0n)
    return total >= challenge.amount ? reject('burn_split') : reject('burn_underpaid')
  }
  if (facts.burnAddressBalance < challenge.amount) return reject('burn_not_held')
  const depth = facts.headNumber - receipt.blockNumber + 1n
  if (depth < BigInt(confirmations)) return reject('pending_burn')
  return accept({
    txHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    leafIndex: covering.leafIndex,
    from: covering.from,
    value: covering.value,
  })
}

function largest(transfers: readonly TransferLog[]): TransferLog | undefined {
  return transfers.reduce<TransferLog | undefined>(
    (best, transfer) => (best === undefined || transfer.value > best.value ? transfer : best),
    undefined,
  )
}
