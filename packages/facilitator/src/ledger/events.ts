/**
 * What the journal remembers: every change of a payment, as an event. The state of the ledger is what these
 * events make of it, at run time as after a crash.
 */
import {
  type Address,
  type BaseUnits,
  type Bytes32,
  type ChallengeNonce,
  Payload,
  parseAddress,
  parseBaseUnits,
  parseBytes32,
  parseChallengeNonce,
  parseTxHash,
  parseUnixSeconds,
  SvcError,
  type TxHash,
  type UnixSeconds,
  unreachable,
} from '@svc-zerc20/protocol'
import {
  type Burn,
  type Challenge,
  type Finalized,
  type LateReason,
  lateReasons,
  type Mint,
  type SignedTransaction,
  type UnmatchedBurn,
} from '../payment/records.js'
import type { JournalFields } from './journal/line.js'

/** What a journal speaks of: replayed against anything else it would be worse than none. */
export type Binding = {
  readonly chainId: number
  readonly token: Address
  readonly helper?: Address
  /** Fingerprint of the seed of its addresses; absent in a journal of an older version. */
  readonly seed?: string
  /** Names the journal; absent, as everything below, in one of an older version. */
  readonly id?: string
  /** How often it was written anew. */
  readonly generation?: number
  /** The relayer's account, and the highest nonce that it is known to have signed for or used. */
  readonly relayer?: { readonly address: Address; readonly nonce: number }
}

/** A permit is read when somebody asks: hardly any is still wanted when the end of a journal is reached. */
export type ClaimedPayload =
  | { readonly kind: 'permit'; read(): Payload.PermitPayload }
  | { readonly kind: 'self-transfer'; read(): Payload.SelfTransferPayload }

export type LedgerEvent =
  | { readonly event: 'ledger_bound'; readonly binding: Binding }
  | { readonly event: 'challenge_issued'; readonly challenge: Challenge }
  | {
      readonly event: 'payment_claimed'
      readonly nonce: ChallengeNonce
      /** Written down, because hashing every payload again would take most of a start. */
      readonly identity: string
      readonly ticketed: boolean
      readonly payload: ClaimedPayload
    }
  /** A relayed transaction exists; it may be broadcast once this is durable. */
  | {
      readonly event: 'burn_signed'
      readonly nonces: readonly ChallengeNonce[]
      readonly transaction: SignedTransaction
    }
  | { readonly event: 'claim_released'; readonly nonce: ChallengeNonce }
  | {
      readonly event: 'payment_accepted'
      readonly nonce: ChallengeNonce
      readonly burn: Burn
      readonly at: UnixSeconds
    }
  /** A reorg took the burn away. */
  | { readonly event: 'payment_demoted'; readonly nonce: ChallengeNonce }
  /** A reorg put it elsewhere. */
  | { readonly event: 'burn_moved'; readonly nonce: ChallengeNonce; readonly burn: Burn }
  /** A transaction that mints exists; it may be broadcast once this is durable. */
  | {
      readonly event: 'mint_signed'
      readonly nonces: readonly ChallengeNonce[]
      readonly transaction: SignedTransaction
    }
  | {
      readonly event: 'payment_finalized'
      readonly nonce: ChallengeNonce
      readonly mint: Mint
      readonly at: UnixSeconds
      /** The value of the burn that was minted; absent in a journal of an older version. */
      readonly burned?: BaseUnits
    }
  /** A burn that buys nothing. A larger one takes its place, and is minted for the difference. */
  | {
      readonly event: 'burn_late'
      readonly challenge: Challenge
      readonly burn: Burn
      readonly reason?: Exclude<LateReason, 'late'>
    }
  | ({ readonly event: 'burn_unmatched'; readonly nonce: ChallengeNonce } & UnmatchedBurn)
  | { readonly event: 'grant_used'; readonly nonce: ChallengeNonce }
  /** A whole accepted payment in one record: what the journal keeps of it when it is written anew. */
  | {
      readonly event: 'payment_recorded'
      readonly challenge: Challenge
      readonly identity: string
      readonly ticketed: boolean
      readonly burn: Burn
      readonly at: UnixSeconds
      readonly granted: boolean
      readonly finalized?: Finalized
    }

/**
 * Numbers that may exceed 2^53 become decimal strings. The order of the fields is the one `ledger-line.ts` reads
 * fastest.
 */
export function toFields(event: LedgerEvent): JournalFields {
  const { event: name } = event
  switch (name) {
    case 'challenge_issued':
      return { event: name, challenge: writeChallenge(event.challenge) }
    case 'payment_claimed': {
      const { nonce, identity, ticketed, payload } = event
      return { event: name, nonce, identity, ticketed, payload: Payload.toWire(payload.read()) }
    }
    case 'payment_accepted':
      return { event: name, nonce: event.nonce, burn: writeBurn(event.burn), at: event.at }
    case 'burn_moved':
      return { event: name, nonce: event.nonce, burn: writeBurn(event.burn) }
    case 'burn_late':
      return {
        event: name,
        challenge: writeChallenge(event.challenge),
        burn: writeBurn(event.burn),
        ...(event.reason && { reason: event.reason }),
      }
    case 'payment_finalized':
      return {
        event: name,
        nonce: event.nonce,
        ...writeFinalized(event),
        ...(event.burned !== undefined && { burned: `${event.burned}` }),
      }
    case 'payment_recorded': {
      const { challenge, identity, ticketed, burn, at, granted, finalized } = event
      return {
        event: name,
        challenge: writeChallenge(challenge),
        identity,
        ticketed,
        burn: writeBurn(burn),
        at,
        granted,
        ...(finalized && { finalized: writeFinalized(finalized) }),
      }
    }
    case 'burn_signed':
    case 'mint_signed': {
      const { nonce, hash, raw } = event.transaction
      return { event: name, nonces: event.nonces, transaction: { nonce, hash, raw } }
    }
    case 'ledger_bound':
    case 'burn_unmatched':
    case 'claim_released':
    case 'payment_demoted':
    case 'grant_used':
      return event
    default:
      return unreachable(event)
  }
}

export const writeChallenge = (challenge: Challenge) => ({
  nonce: challenge.nonce,
  payTo: challenge.payTo,
  amount: `${challenge.amount}`,
  listPrice: `${challenge.listPrice}`,
  issuedAt: challenge.issuedAt,
  expiresAt: challenge.expiresAt,
  ...(challenge.deadline !== undefined && { deadline: challenge.deadline }),
  powNonce: challenge.powNonce,
  treasury: challenge.treasury,
  issuedAtBlock: `${challenge.issuedAtBlock}`,
})

export const writeBurn = (burn: Burn) => ({
  txHash: burn.txHash,
  blockNumber: `${burn.blockNumber}`,
  blockHash: burn.blockHash,
  leafIndex: `${burn.leafIndex}`,
  from: burn.from,
  value: `${burn.value}`,
})

const writeFinalized = ({ mint, at }: Finalized) => ({
  mint: {
    ...(mint.txHash !== undefined && { txHash: mint.txHash }),
    ...(mint.blockNumber !== undefined && { blockNumber: `${mint.blockNumber}` }),
    value: `${mint.value}`,
  },
  at,
})

type Raw = Readonly<Record<string, unknown>>

/**
 * Reads what `toFields` wrote. Throws `SvcError('journal_corrupt')` naming the field that is not as it was written, and
 * `SvcError('journal_newer')` for an event that this version does not know.
 */
export function fromFields(fields: JournalFields): LedgerEvent {
  switch (fields.event) {
    case 'ledger_bound':
      return { event: fields.event, binding: readBinding(fields.binding as Raw) }
    case 'challenge_issued':
      return { event: fields.event, challenge: readChallenge(fields.challenge as Raw) }
    case 'payment_claimed':
      return {
        event: fields.event,
        nonce: nonceIn(fields.nonce),
        identity: identityIn(fields.identity),
        ticketed: fields.ticketed === true,
        payload: claimedPayload(readPayload(fields.payload)),
      }
    case 'burn_signed':
    case 'mint_signed':
      return {
        event: fields.event,
        nonces: (fields.nonces as unknown[]).map(nonceIn),
        transaction: readTransaction(fields.transaction as Raw),
      }
    case 'claim_released':
    case 'payment_demoted':
    case 'grant_used':
      return { event: fields.event, nonce: nonceIn(fields.nonce) }
    case 'payment_accepted':
      return {
        event: fields.event,
        nonce: nonceIn(fields.nonce),
        burn: readBurn(fields.burn as Raw),
        at: secondsIn(fields.at),
      }
    case 'burn_moved':
      return { event: fields.event, nonce: nonceIn(fields.nonce), burn: readBurn(fields.burn as Raw) }
    case 'burn_unmatched':
      return {
        event: fields.event,
        nonce: nonceIn(fields.nonce),
        txHash: hashIn(fields.txHash),
        reason: reasonIn(fields.reason),
        at: secondsIn(fields.at),
      }
    case 'payment_finalized':
      return {
        event: fields.event,
        nonce: nonceIn(fields.nonce),
        ...readFinalized(fields),
        ...(fields.burned !== undefined && { burned: unitsIn(fields.burned) }),
      }
    case 'burn_late':
      return {
        event: fields.event,
        challenge: readChallenge(fields.challenge as Raw),
        burn: readBurn(fields.burn as Raw),
        ...(fields.reason !== undefined && { reason: lateReasonIn(fields.reason) }),
      }
    case 'payment_recorded':
      return {
        event: fields.event,
        challenge: readChallenge(fields.challenge as Raw),
        identity: identityIn(fields.identity),
        ticketed: fields.ticketed === true,
        burn: readBurn(fields.burn as Raw),
        at: secondsIn(fields.at),
        granted: fields.granted === true,
        ...(fields.finalized !== undefined && { finalized: readFinalized(fields.finalized as Raw) }),
      }
    default:
      // Its checksum was good, so somebody meant it.
      throw new SvcError('journal_newer', `the event ${fields.event} is unknown here`)
  }
}

function readBinding({ chainId, token, helper, seed, id, generation, relayer }: Raw): Binding {
  return {
    chainId: numberIn(chainId),
    token: addressIn(token),
    ...(helper !== undefined && { helper: addressIn(helper) }),
    ...(seed !== undefined && { seed: fingerprintIn(seed) }),
    ...(id !== undefined && { id: identityIn(id) }),
    ...(generation !== undefined && { generation: numberIn(generation) }),
    ...(relayer !== undefined && { relayer: readRelayer(relayer as Raw) }),
  }
}

function readRelayer({ address, nonce }: Raw) {
  return { address: addressIn(address), nonce: numberIn(nonce) }
}

export function readChallenge(raw: Raw): Challenge {
  const { deadline } = raw
  return {
    nonce: nonceIn(raw.nonce),
    payTo: addressIn(raw.payTo),
    amount: unitsIn(raw.amount),
    listPrice: unitsIn(raw.listPrice),
    issuedAt: secondsIn(raw.issuedAt),
    expiresAt: secondsIn(raw.expiresAt),
    ...(deadline !== undefined && { deadline: secondsIn(deadline) }),
    powNonce: numberIn(raw.powNonce),
    treasury: addressIn(raw.treasury),
    issuedAtBlock: unitsIn(raw.issuedAtBlock),
  }
}

export function readBurn(raw: Raw): Burn {
  return {
    txHash: hashIn(raw.txHash),
    blockNumber: unitsIn(raw.blockNumber),
    blockHash: bytes32In(raw.blockHash),
    leafIndex: unitsIn(raw.leafIndex),
    from: addressIn(raw.from),
    value: unitsIn(raw.value),
  }
}

function readFinalized({ mint, at }: Raw): Finalized {
  const { txHash, blockNumber, value } = mint as Raw
  return {
    mint: {
      ...(txHash !== undefined && { txHash: hashIn(txHash) }),
      ...(blockNumber !== undefined && { blockNumber: unitsIn(blockNumber) }),
      value: unitsIn(value),
    },
    at: secondsIn(at),
  }
}

function readTransaction(raw: Raw): SignedTransaction {
  const { raw: bytes } = raw
  if (typeof bytes !== 'string' || !/^0x[0-9a-f]+$/.test(bytes)) throw corrupt('a transaction is not hex')
  return { nonce: numberIn(raw.nonce), hash: hashIn(raw.hash), raw: bytes as `0x${string}` }
}

export const claimedPayload = (payload: Payload.Payload): ClaimedPayload =>
  payload.kind === 'permit'
    ? { kind: payload.kind, read: () => payload }
    : { kind: payload.kind, read: () => payload }

/** Throws `SvcError('journal_corrupt')` when it is no payload. */
export function readPayload(raw: unknown): Payload.Payload {
  const payload = Payload.parse(raw)
  if (!payload.ok) throw corrupt(payload.message)
  return payload.value
}

const required =
  <T>(what: string, parse: (value: unknown) => T | undefined) =>
  (value: unknown): T => {
    const parsed = parse(value)
    if (parsed === undefined) throw corrupt(`${JSON.stringify(value)} is no ${what}`)
    return parsed
  }

const nonceIn: (value: unknown) => ChallengeNonce = required('challenge nonce', parseChallengeNonce)
const addressIn: (value: unknown) => Address = required('address', parseAddress)
const unitsIn: (value: unknown) => BaseUnits = required('number', parseBaseUnits)
const secondsIn: (value: unknown) => UnixSeconds = required('time', parseUnixSeconds)
const hashIn: (value: unknown) => TxHash = required('transaction hash', parseTxHash)
const bytes32In: (value: unknown) => Bytes32 = required('hash', parseBytes32)
const identityIn = required('identity', (value) =>
  typeof value === 'string' && /^[0-9a-f]{32}$/.test(value) ? value : undefined,
)
const fingerprintIn = required('fingerprint', (value) =>
  typeof value === 'string' && /^[0-9a-f]{16}$/.test(value) ? value : undefined,
)
const reasonIn = required('reason', (value) =>
  typeof value === 'string' && /^[a-z_]{1,64}$/.test(value) ? value : undefined,
)
const lateReasonIn = required('reason of a burn', (value) =>
  lateReasons.find((reason): reason is Exclude<LateReason, 'late'> => reason !== 'late' && reason === value),
)
const numberIn = required('number', (value) => (Number.isSafeInteger(value) ? (value as number) : undefined))

const corrupt = (why: string) => new SvcError('journal_corrupt', why)
