/** The two payload shapes, and the rule that distinguishes them. */
import { sha256 } from '@noble/hashes/sha2'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils'
import {
  type Address,
  type BaseUnits,
  type Bytes32,
  type ChallengeNonce,
  parseAddress,
  parseBaseUnits,
  parseBytes32,
  parseChallengeNonce,
  parseSignature,
  parseTxHash,
  type Signature,
  type TxHash,
} from './brand.js'
import { isObject, type JsonObject } from './json.js'
import { accept, type Rejection, type Result, reject } from './reasons.js'

export type Permit = {
  readonly value: BaseUnits
  readonly nonce: BaseUnits
  readonly deadline: BaseUnits
  readonly v: number
  readonly r: Bytes32
  readonly s: Bytes32
}

/** Shape A: the payer signs, and the facilitator broadcasts. */
export type PermitPayload = {
  readonly kind: 'permit'
  readonly challengeNonce: ChallengeNonce
  readonly payer: Address
  readonly permit: Permit
  readonly burnAuthSig: Signature
}

/** Shape B: the payer broadcast the burn itself. */
export type SelfTransferPayload = {
  readonly kind: 'self-transfer'
  readonly challengeNonce: ChallengeNonce
  readonly burnTxHash: TxHash
}

export type Payload = PermitPayload | SelfTransferPayload

const permitTriple = ['permit', 'payer', 'burnAuthSig'] as const

const malformed = (message: string): Rejection => reject('malformed_payload', message)

/**
 * A payload with any of `permit`, `payer`, `burnAuthSig` is a permit, and then all three are required. A partial triple
 * is never read as a self-transfer. Unknown keys are ignored.
 */
export function parse(raw: unknown): Result<Payload> {
  if (!isObject(raw)) return malformed('payload: not an object')
  const present = permitTriple.filter((key) => raw[key] !== undefined)
  if (present.length === permitTriple.length) return parsePermitPayload(raw)
  if (present.length > 0) return malformed(`partial permit: only ${present.join(', ')}`)
  return parseSelfTransfer(raw)
}

function parseSelfTransfer(raw: JsonObject): Result<SelfTransferPayload> {
  const challengeNonce = parseChallengeNonce(raw.challengeNonce)
  if (challengeNonce === undefined) return malformed('challengeNonce: not 32 bytes of hex')
  if (raw.burnTxHash === undefined) return malformed('neither a permit nor a burnTxHash')
  const burnTxHash = parseTxHash(raw.burnTxHash)
  if (burnTxHash === undefined) return malformed('burnTxHash: not 32 bytes of hex')
  return accept({ kind: 'self-transfer', challengeNonce, burnTxHash })
}

function parsePermitPayload(raw: JsonObject): Result<PermitPayload> {
  const challengeNonce = parseChallengeNonce(raw.challengeNonce)
  if (challengeNonce === undefined) return malformed('challengeNonce: not 32 bytes of hex')
  const payer = parseAddress(raw.payer)
  if (payer === undefined) return malformed('payer: not a 20-byte address')
  const burnAuthSig = parseSignature(raw.burnAuthSig)
  if (burnAuthSig === undefined) return malformed('burnAuthSig: not 65 bytes of hex')
  const permit = parsePermit(raw.permit)
  if (!permit.ok) return permit
  return accept({ kind: 'permit', challengeNonce, payer, permit: permit.value, burnAuthSig })
}

function parsePermit(raw: unknown): Result<Permit> {
  if (!isObject(raw)) return malformed('permit: not an object')
  const value = parseBaseUnits(raw.value)
  if (value === undefined) return malformed('permit.value: not a decimal integer string')
  const nonce = parseBaseUnits(raw.nonce)
  if (nonce === undefined) return malformed('permit.nonce: not a decimal integer string')
  const deadline = parseBaseUnits(raw.deadline)
  if (deadline === undefined) return malformed('permit.deadline: not a decimal integer string')
  const { v } = raw
  if (typeof v !== 'number' || !Number.isInteger(v) || v < 0 || v > 255) {
    return malformed('permit.v: not a byte')
  }
  const r = parseBytes32(raw.r)
  if (r === undefined) return malformed('permit.r: not 32 bytes of hex')
  const s = parseBytes32(raw.s)
  if (s === undefined) return malformed('permit.s: not 32 bytes of hex')
  return accept({ value, nonce, deadline, v, r, s })
}

/** The wire form of a payload: numbers as decimal strings, and no `kind`, which `parse` works out again. */
export function toWire(payload: Payload): Record<string, unknown> {
  if (payload.kind === 'self-transfer') {
    return { challengeNonce: payload.challengeNonce, burnTxHash: payload.burnTxHash }
  }
  const { value, nonce, deadline, v, r, s } = payload.permit
  return {
    challengeNonce: payload.challengeNonce,
    payer: payload.payer,
    permit: { value: `${value}`, nonce: `${nonce}`, deadline: `${deadline}`, v, r, s },
    burnAuthSig: payload.burnAuthSig,
  }
}

const identityBytes = 16

/**
 * A short text, equal for two payloads exactly when they authorize the same burn with the same bytes. The permit only
 * gives the means, so a payer that signs it again, with another nonce, presents the same payment.
 */
export function identity(payload: Payload): string {
  const { permit: _, ...authorization } = toWire(payload)
  const digest = sha256(utf8ToBytes(JSON.stringify(authorization)))
  return bytesToHex(digest.subarray(0, identityBytes))
}
