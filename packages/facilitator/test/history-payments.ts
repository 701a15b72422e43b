/** Payments of the history for tests: two payers, a treasury, and a day of finality. */
import type { Address } from '@svc-zerc20/protocol'
import type { HistoryPayment, RecordKind } from '../src/history/payment.js'
import type { Burn, Challenge, Finalized } from '../src/payment/records.js'
import { addressOf, burnOf, challengeOf, hashOf, seconds, units } from './challenges.js'

/** Noon of 2023-11-14 in UTC, on whose day everything here happens. */
export const noon = 1_699_963_200
export const dayOfAll = '2023-11-14'
export const nextMidnight = 1_700_006_400
/** The day that payers are told for mints of that day, and the second from which on they are. */
export const dayTold = '2023-11-15'
export const toldFrom = nextMidnight + 86_400

export const payerA = addressOf(0xaaa1)
export const payerB = addressOf(0xbbb1)

export type Shape = {
  readonly payer?: Address
  readonly challenge?: Partial<Challenge>
  readonly value?: bigint
  readonly at?: number
  readonly accepted?: boolean
  readonly late?: Partial<Burn>
  readonly finalizedAt?: number
  readonly lateMintedAt?: number
  readonly disclosedAt?: number
  readonly unmatched?: HistoryPayment['unmatched']
}

/** Accepted unless told otherwise, half a minute after its challenge. */
export function historyPaymentOf(seed: number, shape: Shape = {}): HistoryPayment {
  const { payer = payerA, at = noon, accepted: isAccepted = true } = shape
  const value = units(shape.value ?? 1000n)
  const challenge = challengeOf(seed, {
    payTo: addressOf(0xdd0000 + seed),
    amount: value,
    listPrice: value,
    issuedAt: seconds(at - 30),
    expiresAt: seconds(at + 270),
    ...shape.challenge,
  })
  const burn = { ...burnOf(0xb00000 + seed * 16), from: payer, value, leafIndex: BigInt(seed) }
  const mintOf = (offset: number, when: number): Finalized => ({
    mint: { txHash: hashOf(0xc00000 + seed * 16 + offset), blockNumber: 77n, value },
    at: seconds(when),
  })
  const { finalizedAt, lateMintedAt, disclosedAt, unmatched = [] } = shape
  const late = shape.late && {
    burn: { ...burn, txHash: hashOf(0xb00008 + seed * 16), ...shape.late },
    reason: isAccepted ? ('unrecorded' as const) : ('late' as const),
    at: seconds(at + 60),
  }
  const times: [RecordKind, number | undefined][] = [
    ['challenged', challenge.issuedAt],
    ['accepted', isAccepted ? at : undefined],
    ['late', late?.at],
    ['finalized', finalizedAt],
    ['finalized', lateMintedAt],
    ['disclosed', disclosedAt],
    ...unmatched.map((each): [RecordKind, number] => ['unmatched', each.at]),
  ]
  const turns = times
    .flatMap(([kind, when]) => (when === undefined ? [] : [{ kind, at: seconds(when) }]))
    .sort((a, b) => a.at - b.at)
    .map((turn, i) => ({ seq: seed * 10 + i, ...turn }))
  return {
    challenge,
    granted: false,
    ...(isAccepted && { accepted: { burn, at: seconds(at) } }),
    ...(late && { late }),
    ...(finalizedAt !== undefined && { finalized: mintOf(0, finalizedAt) }),
    ...(lateMintedAt !== undefined && { lateMinted: mintOf(1, lateMintedAt) }),
    ...(disclosedAt !== undefined && { disclosedAt: seconds(disclosedAt) }),
    unmatched,
    turns,
  }
}
