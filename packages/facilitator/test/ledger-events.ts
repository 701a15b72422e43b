/** Arbitrary ledger events, for properties. */
import type {
  Address,
  BaseUnits,
  Bytes32,
  ChallengeNonce,
  Payload,
  Signature,
  TxHash,
  UnixSeconds,
} from '@svc-zerc20/protocol'
import fc from 'fast-check'
import type { EndedPayment } from '../src/ledger/archive/packing.js'
import { claimedPayload, type LedgerEvent } from '../src/ledger/events/events.js'
import type { Burn, Challenge, Fee, Finalized, Mint, SignedTransaction } from '../src/payment/records.js'

const hex = <T>(bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => `0x${Buffer.from(value).toString('hex')}` as T)
const address = hex<Address>(20)
const nonce = hex<ChallengeNonce>(32)
const hash = hex<TxHash>(32)
const units = fc.bigInt({ min: 0n, max: 2n ** 248n - 1n }).map((value) => value as BaseUnits)
const height = fc.bigInt({ min: 0n, max: 2n ** 64n })
const seconds = fc.nat({ max: Number.MAX_SAFE_INTEGER }).map((value) => value as UnixSeconds)
const identity = hex<string>(16).map((text) => text.slice(2))

const anyFee: fc.Arbitrary<Fee> = fc.record(
  {
    amount: units,
    bps: fc.nat({ max: 10_000 }),
    chargeTo: fc.constantFrom('payer', 'provider'),
    recipient: address,
  },
  { requiredKeys: ['amount', 'bps', 'chargeTo'] },
)

const anyChallenge: fc.Arbitrary<Challenge> = fc
  .record(
    {
      nonce,
      payTo: address,
      amount: units,
      listPrice: units,
      issuedAt: seconds,
      expiresAt: seconds,
      deadline: seconds,
      powNonce: fc.maxSafeNat(),
      epoch: fc.record({ ledger: fc.constant('ab'.repeat(16)), start: fc.maxSafeNat() }),
      treasury: address,
      issuedAtBlock: height,
      fee: anyFee,
    },
    {
      requiredKeys: [
        'nonce',
        'payTo',
        'amount',
        'listPrice',
        'issuedAt',
        'expiresAt',
        'powNonce',
        'treasury',
        'issuedAtBlock',
      ],
    },
  )
  .map((challenge) => withWholeAmount(challenge as Challenge))

/** List price and fee make up the amount, as in every quote. */
function withWholeAmount(challenge: Challenge): Challenge {
  const { listPrice, fee } = challenge
  if (fee === undefined) return challenge
  const amount = fee.chargeTo === 'payer' ? listPrice + fee.amount : listPrice
  return { ...challenge, amount: amount as BaseUnits }
}

const anyBurn: fc.Arbitrary<Burn> = fc.record({
  txHash: hash,
  blockNumber: height,
  blockHash: hex<string>(32),
  leafIndex: height,
  from: address,
  value: units,
})

const anyMint: fc.Arbitrary<Mint> = fc.record(
  { txHash: hash, blockNumber: height, value: units },
  { requiredKeys: ['value'] },
)

const anyFinalized: fc.Arbitrary<Finalized> = fc.record({ mint: anyMint, at: seconds })

export const anyEnded: fc.Arbitrary<EndedPayment> = fc
  .record(
    {
      ...{ challenge: anyChallenge, identity, burn: anyBurn, at: seconds },
      ends: fc.record(
        { finalized: anyFinalized, swept: fc.constant(true as const) },
        { requiredKeys: ['finalized'] },
      ),
    },
    { requiredKeys: ['challenge', 'identity', 'burn', 'at'] },
  )
  .map(({ ends, ...payment }) => ({ ...payment, ...ends }))

const payload: fc.Arbitrary<Payload.Payload> = fc.oneof(
  fc.record({
    kind: fc.constant('permit' as const),
    challengeNonce: nonce,
    payer: address,
    permit: fc.record({
      value: units,
      nonce: units,
      deadline: units,
      v: fc.nat({ max: 255 }),
      r: hex<Bytes32>(32),
      s: hex<Bytes32>(32),
    }),
    burnAuthSig: hex<Signature>(65),
  }),
  fc.record({ kind: fc.constant('self-transfer' as const), challengeNonce: nonce, burnTxHash: hash }),
)

const claimed = payload.map(claimedPayload)

const transaction: fc.Arbitrary<SignedTransaction> = fc.record(
  {
    txNonce: fc.maxSafeNat(),
    hash,
    raw: fc
      .uint8Array({ minLength: 1, maxLength: 600 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
    from: address,
  },
  { requiredKeys: ['txNonce', 'hash', 'raw'] },
)

const binding = fc.record(
  {
    chainId: fc.integer({ min: 1 }),
    token: address,
    helper: address,
    seed: fc.stringMatching(/^[0-9a-f]{16}$/),
  },
  { requiredKeys: ['chainId', 'token'] },
)

const sweep = { recipient: address, amount: units, nonces: fc.array(nonce, { maxLength: 5 }) }

/** One arbitrary for every kind of event: a kind without one does not compile. */
const byKind: { [Kind in LedgerEvent['event']]: fc.Arbitrary<Extract<LedgerEvent, { event: Kind }>> } = {
  challenge_issued: fc.record({ event: fc.constant('challenge_issued'), challenge: anyChallenge }),
  ledger_bound: fc.record({ event: fc.constant('ledger_bound'), binding }),
  payment_claimed: fc.record({
    event: fc.constant('payment_claimed'),
    nonce,
    identity,
    ticketed: fc.boolean(),
    payload: claimed,
  }),
  burn_signed: fc.record({
    event: fc.constant('burn_signed'),
    nonces: fc.array(nonce, { maxLength: 5 }),
    transaction,
  }),
  claim_released: fc.record({ event: fc.constant('claim_released'), nonce }),
  payment_accepted: fc.record({ event: fc.constant('payment_accepted'), nonce, burn: anyBurn, at: seconds }),
  payment_demoted: fc.record({ event: fc.constant('payment_demoted'), nonce }),
  burn_moved: fc.record({ event: fc.constant('burn_moved'), nonce, burn: anyBurn }),
  mint_signed: fc.record({
    event: fc.constant('mint_signed'),
    nonces: fc.array(nonce, { maxLength: 5 }),
    transaction,
  }),
  payment_finalized: fc.record(
    { event: fc.constant('payment_finalized'), nonce, mint: anyMint, at: seconds, burned: units },
    { requiredKeys: ['event', 'nonce', 'mint', 'at'] },
  ),
  burn_late: fc.record(
    {
      event: fc.constant('burn_late'),
      challenge: anyChallenge,
      burn: anyBurn,
      reason: fc.constantFrom('unpresented', 'second', 'split', 'underpaid', 'unrecorded'),
    },
    { requiredKeys: ['event', 'challenge', 'burn'] },
  ),
  burn_unmatched: fc.record({
    event: fc.constant('burn_unmatched'),
    nonce,
    txHash: hash,
    reason: fc.constantFrom('burn_split', 'burn_underpaid'),
    at: seconds,
  }),
  grant_used: fc.record({ event: fc.constant('grant_used'), nonce }),
  payment_recorded: fc.record(
    {
      event: fc.constant('payment_recorded'),
      challenge: anyChallenge,
      identity,
      ticketed: fc.boolean(),
      burn: anyBurn,
      at: seconds,
      granted: fc.boolean(),
      finalized: anyFinalized,
      swept: fc.constant(true as const),
    },
    { requiredKeys: ['event', 'challenge', 'identity', 'ticketed', 'burn', 'at', 'granted'] },
  ),
  sweep_signed: fc.record({ event: fc.constant('sweep_signed'), ...sweep, transaction }),
  sweep_ended: fc.record(
    {
      event: fc.constant('sweep_ended'),
      txNonce: fc.maxSafeNat(),
      at: seconds,
      txHash: hash,
      blockNumber: height,
    },
    { requiredKeys: ['event', 'txNonce', 'at'] },
  ),
  sweep_found: fc.record({
    event: fc.constant('sweep_found'),
    ...sweep,
    ...{ txHash: hash, blockNumber: height, at: seconds },
  }),
  fees_swept: fc.record(
    {
      event: fc.constant('fees_swept'),
      ...{ sweeps: fc.maxSafeNat(), payments: fc.maxSafeNat(), amount: units },
      last: fc.record({
        ...{ recipient: address, amount: units, payments: fc.maxSafeNat() },
        ...{ txHash: hash, blockNumber: height, at: seconds },
      }),
      nonces: sweep.nonces,
    },
    { requiredKeys: ['event', 'sweeps', 'payments', 'amount', 'nonces'] },
  ),
  distribution_signed: fc.record({ event: fc.constant('distribution_signed'), transaction }),
  distribution_ended: fc.record({ event: fc.constant('distribution_ended'), txNonce: fc.maxSafeNat() }),
}

export const eventKinds = Object.entries(byKind) as [LedgerEvent['event'], fc.Arbitrary<LedgerEvent>][]
