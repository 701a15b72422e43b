/** The call that burns a batch, and the meaning of the permit burner's refusals for payers. */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import {
  type Address,
  type Payload,
  type ReasonCode,
  type Rejection,
  reject,
  SvcError,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeErrorResult, encodeFunctionData } from 'viem/utils'
import { canonical, splitSignature } from '../../chain/signers/signers.js'
import type { Challenge } from '../../payment/records.js'

export type BatchItem = { readonly challenge: Challenge; readonly payload: Payload.PermitPayload }

export function encodeBatch(items: readonly BatchItem[], token: Address): Hex {
  return encodeFunctionData({
    abi: permitBurnerAbi,
    functionName: 'burnBatch',
    args: [items.map((item) => toRequest(item, token))],
  })
}

/** One burn as the helper takes it. */
export function toRequest({ challenge, payload }: BatchItem, token: Address) {
  const permit = canonical(payload.permit)
  const bind = canonical(splitSignature(payload.burnAuthSig))
  // Both signers were found before the burn was claimed; without a canonical form that is impossible.
  if (!permit || !bind) throw new SvcError('invariant', 'a claimed payload has no canonical signature')
  return {
    authorization: {
      token,
      payer: payload.payer,
      burnAddress: challenge.payTo,
      value: challenge.amount,
      challengeNonce: challenge.nonce,
      deadline: payload.permit.deadline,
    },
    v: permit.v,
    r: permit.r as Hex,
    s: permit.s as Hex,
    burnAuthSig: `${bind.r}${bind.s.slice(2)}${bind.v.toString(16)}` as Hex,
  }
}

const errorAbi = [...permitBurnerAbi, ...tokenAbi].filter(({ type }) => type === 'error')

const reasonByError: Record<string, ReasonCode> = {
  BurnExpired: 'deadline_passed',
  PermitRejected: 'permit_nonce_stale',
  InvalidBurnAuthorization: 'signer_mismatch',
  ERC20InsufficientBalance: 'insufficient_funds',
  ERC20InsufficientAllowance: 'permit_nonce_stale',
}

/** Revert data of one item → the rejection that the payer is told. */
export function toRejection(reason: Hex): Rejection | 'executed_elsewhere' {
  if (reason === '0x') return reject('burn_failed', 'the burn ran out of gas')
  try {
    const { errorName } = decodeErrorResult({ abi: errorAbi, data: reason })
    if (errorName === 'BurnAlreadyExecuted') return 'executed_elsewhere'
    const code = reasonByError[errorName]
    return code ? reject(code) : reject('burn_failed', `the burn reverted: ${errorName}`)
  } catch {
    return reject('burn_failed', `the token reverted with ${reason.slice(0, 10)}`)
  }
}
