/** The call that burns a batch, and the meaning of the permit burner's refusals for payers. */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type Address, type ReasonCode, type Rejection, reject, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeErrorResult, getAbiItem, toFunctionSelector } from 'viem/utils'
import { addressWord, bytes32Word, uintWord } from '../../chain/abi-words.js'
import { canonical, splitSignature } from '../../chain/signers/signers.js'
import type { ClaimedPermit } from '../../payment/records.js'

const burnBatchSelector = toFunctionSelector(getAbiItem({ abi: permitBurnerAbi, name: 'burnBatch' }))

export const encodeBatch = (items: readonly ClaimedPermit[], token: Address): Hex =>
  `${burnBatchSelector}${uintWord(32)}${requestList(items, token)}`

/** A request has a fixed length: six words of its authorization, v, r, s, and 65 bytes with their place and length. */
const requestBytes = 32 * 14
const signatureAt = 32 * 10
const signatureBytes = 65

/** Burns as the helper takes them: a list of requests, as words. */
export function requestList(items: readonly ClaimedPermit[], token: Address): string {
  const places = items.map((_, i) => uintWord(32 * items.length + requestBytes * i))
  return [uintWord(items.length), ...places, ...items.map((item) => requestWords(item, token))].join('')
}

function requestWords({ challenge, payload }: ClaimedPermit, token: Address): string {
  const permit = canonical(payload.permit)
  const bind = canonical(splitSignature(payload.burnAuthSig))
  // Both signers were found before the burn was claimed; without a canonical form that is impossible.
  if (!permit || !bind) throw new SvcError('invariant', 'a claimed payload has no canonical signature')
  const { nonce, payTo, amount } = challenge
  const parties = addressWord(token) + addressWord(payload.payer) + addressWord(payTo)
  const authorization = parties + uintWord(amount) + bytes32Word(nonce) + uintWord(payload.permit.deadline)
  const permitSignature = uintWord(permit.v) + bytes32Word(permit.r) + bytes32Word(permit.s)
  const place = uintWord(signatureAt) + uintWord(signatureBytes)
  const bindSignature = bytes32Word(bind.r) + bytes32Word(bind.s) + bind.v.toString(16).padEnd(64, '0')
  return authorization + permitSignature + place + bindSignature
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
