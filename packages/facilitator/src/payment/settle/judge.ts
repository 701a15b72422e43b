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
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import type {
  Deployment,
  PermitChainFacts,
  PermitSigners,
  SelfTransferChainFacts,
  TransferLog,
  TransferReceipt,
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
  /** Seconds that mining takes. */
  readonly miningSeconds: number
}

/** Whether a burn that is sent behind a block of this time is still mined before its deadline. */
export const isMinable = (
  { deadline }: Pick<Challenge, 'deadline'>,
  timestamp: UnixSeconds,
  miningSeconds: number,
): boolean => deadline !== undefined && timestamp + miningSeconds <= deadline

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
  // A burn that happened in time stays good; its signatures are still checked below.
  if (!chain.executed && !isMinable(challenge, chain.timestamp, facts.miningSeconds)) {
    return reject('deadline_passed')
  }
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
 * Whether the payer's means cover this payment, and no other relayed burn of it is under way. The payer can make all of them
 * fail by one transaction in front of theirs, whatever it holds now: by an approval, a transfer, or a permit of its own. So
 * one is out at a time, until a block holds it. A permit carries the live nonce, so an honest payer has only one anyway.
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
  if (others.length > 0) {
    return reject(
      'payer_must_wait',
      'another burn of this payer is under way: send this one again once it is mined',
    )
  }
  // A permit that a stranger already submitted has used its nonce and left the allowance, so it is still
  // good.
  const isUsed = permit.nonce < means.permitNonce
  if (permit.nonce > means.permitNonce || (isUsed && means.allowance < amount)) {
    return reject('permit_nonce_stale')
  }
  return means.balance < amount ? reject('insufficient_funds') : undefined
}

/**
 * The burn that a receipt proves, whoever sent the transaction, or why it proves none. It takes all three: the transaction
 * succeeded, one transfer in it covers the amount, and the burn address holds that much.
 */
export function judgeReceipt(
  challenge: Challenge,
  txHash: TxHash,
  receipt: TransferReceipt,
  burnAddressBalance: bigint,
): Result<Burn> {
  if (!receipt.succeeded) return reject('burn_reverted')
  const paid = receipt.transfers.filter((transfer) => transfer.to === challenge.payTo)
  const covering = largest(paid)
  if (!covering) return reject('burn_mismatch')
  if (covering.value < challenge.amount) {
    const total = paid.reduce((sum, transfer) => sum + transfer.value, 0n)
    return total >= challenge.amount ? reject('burn_split') : reject('burn_underpaid')
  }
  if (burnAddressBalance < challenge.amount) return reject('burn_not_held')
  const { blockNumber, blockHash } = receipt
  const { leafIndex, from, value } = covering
  return accept({ txHash, blockNumber, blockHash, leafIndex, from, value })
}

/** The burn of a self-transfer, or why the named transaction does not pay this challenge. */
export function judgeSelfTransfer(
  challenge: Challenge,
  txHash: TxHash,
  { receipt, burnAddressBalance, headNumber }: SelfTransferChainFacts,
  confirmations: number,
): Result<Burn> {
  if (!receipt) return reject('burn_not_found')
  const judged = judgeReceipt(challenge, txHash, receipt, burnAddressBalance)
  const isDeep = headNumber - receipt.blockNumber + 1n >= BigInt(confirmations)
  return judged.ok && !isDeep ? reject('pending_burn') : judged
}

function largest(transfers: readonly TransferLog[]): TransferLog | undefined {
  return transfers.reduce<TransferLog | undefined>(
    (best, transfer) => (best === undefined || transfer.value > best.value ? transfer : best),
    undefined,
  )
}
