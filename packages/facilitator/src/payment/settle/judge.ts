/**
 * Facts in, verdict out. Verify and settle share these judges, so they cannot disagree, and no chain is
 * needed to test them. Checks stand in the precedence order of the table of reasons.
 */
import {
  accept,
  type ChallengeNonce,
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
  Deployment,
  PermitChainFacts,
  PermitSigners,
  SelfTransferChainFacts,
  TransferLog,
} from '../ports.js'
import type { Burn, Challenge, OpenClaim, PayerMeans } from '../records.js'

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

export type PermitFacts = PermitSigners & {
  readonly chain: PermitChainFacts
  /** The payer's open claims; `executed` names those whose burns are in the block of `chain`. */
  readonly openClaims: readonly OpenClaim[]
  readonly executed: ReadonlySet<ChallengeNonce>
  /** How long this payer has to wait, because burns relayed for it failed. */
  readonly waitMs: number
}

/** Faults of a permit that show before the chain is asked. */
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
  if (facts.waitMs > 0) {
    const waitSeconds = Math.ceil(facts.waitMs / 1000)
    return reject(
      'payer_must_wait',
      `burns relayed for this payer failed on chain: wait ${waitSeconds} s, or pay by self-transfer`,
    )
  }
  const refused = judgeMeans(challenge, payload, meansOf(facts), facts.openClaims)
  return refused ?? accept('burnable')
}

export const meansOf = ({ chain, executed }: Pick<PermitFacts, 'chain' | 'executed'>): PayerMeans => {
  const { timestamp, permitNonce, balance, allowance } = chain
  return { timestamp, permitNonce, balance, allowance, executed }
}

/**
 * Whether the payer's means cover this payment beside all its claims that have not ended. Otherwise one
 * balance would back many burns, and all but one of them would fail at the relayer's cost.
 */
export function judgeMeans(
  { nonce, amount }: Challenge,
  { permit }: Payload.PermitPayload,
  means: PayerMeans,
  openClaims: readonly OpenClaim[],
): Rejection | undefined {
  const others = openClaims.filter(({ challenge }) => {
    const isPast = challenge.deadline !== undefined && means.timestamp > challenge.deadline
    return challenge.nonce !== nonce && !isPast && !means.executed.has(challenge.nonce)
  })
  if (others.some((other) => other.permitNonce === permit.nonce)) return reject('permit_nonce_in_use')
  // A permit that a stranger already submitted has used its nonce and left the allowance, so it is still
  // good.
  const isUsed = permit.nonce < means.permitNonce
  if (permit.nonce > means.permitNonce || (isUsed && means.allowance < amount)) {
    return reject('permit_nonce_stale')
  }
  if (isUsed && allowanceLeft(means, others) < amount) {
    return reject(
      'permit_nonce_stale',
      'other burns of this payer that are under way take the allowance: sign with the live nonce',
    )
  }
  if (means.balance < amount) return reject('insufficient_funds', 'The payer holds less than the amount.')
  const left = means.balance - sumOf(others)
  return left < amount
    ? reject('insufficient_funds', 'burns of this payer that are under way leave less than the amount')
    : undefined
}

/** A permit that is not submitted yet sets the allowance to its own value, and its burn takes all of that. */
function allowanceLeft({ allowance, permitNonce }: PayerMeans, others: readonly OpenClaim[]): bigint {
  const isReplaced = others.some((other) => other.permitNonce === permitNonce)
  return isReplaced ? 0n : allowance - sumOf(others.filter((other) => other.permitNonce < permitNonce))
}

const sumOf = (claims: readonly OpenClaim[]) =>
  claims.reduce((sum, { challenge }) => sum + challenge.amount, 0n)

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
