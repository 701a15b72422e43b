/** Challenges and payloads for tests that need no chain. */
import type { Address, BaseUnits, ChallengeNonce, Payload, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Deployment, ReadyAddress } from '../src/payment/ports.js'
import type { AddressEpoch, Burn, Challenge } from '../src/payment/records.js'

const bytes = (count: number, seed: number) => `0x${seed.toString(16).padStart(count * 2, '0')}`

export const addressOf = (seed: number) => bytes(20, seed) as Address
export const nonceOf = (seed: number) => bytes(32, seed) as ChallengeNonce
export const hashOf = (seed: number) => bytes(32, seed) as TxHash
/** An epoch of the ledger of most tests. */
export const epochOfSecond = (start: number, ledger = '11'.repeat(16)): AddressEpoch => ({ ledger, start })
export const units = (value: bigint) => value as BaseUnits
export const seconds = (value: number) => value as UnixSeconds

export const deployment: Deployment = {
  chainId: 31337,
  token: addressOf(0xa1),
  tokenName: 'Devnet zUSD',
  treasury: addressOf(0xa2),
  helper: addressOf(0xa3),
}

export function challengeOf(seed: number, changes: Partial<Challenge> = {}): Challenge {
  return {
    nonce: nonceOf(seed),
    payTo: addressOf(seed),
    amount: units(1000n),
    listPrice: units(1000n),
    issuedAt: seconds(1_700_000_000),
    expiresAt: seconds(1_700_000_300),
    deadline: seconds(1_700_000_300),
    powNonce: 0,
    treasury: deployment.treasury,
    issuedAtBlock: 0n,
    ...changes,
  }
}

/** The address of a challenge, as it was before it was issued. */
export const readyOf = ({ nonce, powNonce, payTo }: Challenge): ReadyAddress => ({
  challengeNonce: nonce,
  powNonce,
  powBits: 8,
  payTo,
})

export function permitPayloadOf(
  challenge: Challenge,
  changes: { payer?: Address; nonce?: bigint; value?: bigint; deadline?: bigint } = {},
): Payload.PermitPayload {
  return {
    kind: 'permit',
    challengeNonce: challenge.nonce,
    payer: changes.payer ?? addressOf(0xfa),
    permit: {
      value: units(changes.value ?? challenge.amount),
      nonce: units(changes.nonce ?? 0n),
      deadline: units(changes.deadline ?? BigInt(challenge.expiresAt)),
      v: 27,
      r: bytes(32, 1) as Payload.Permit['r'],
      s: bytes(32, 2) as Payload.Permit['s'],
    },
    burnAuthSig: bytes(65, 3) as Payload.PermitPayload['burnAuthSig'],
  }
}

export const selfTransferOf = (challenge: Challenge, seed: number): Payload.SelfTransferPayload => ({
  kind: 'self-transfer',
  challengeNonce: challenge.nonce,
  burnTxHash: hashOf(seed),
})

export const burnOf = (seed: number): Burn => ({
  txHash: hashOf(seed),
  blockNumber: 1n,
  blockHash: hashOf(seed + 1),
  leafIndex: 0n,
  from: addressOf(0xfa),
  value: units(1000n),
})
