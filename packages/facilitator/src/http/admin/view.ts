/**
 * Payments and fees as the administrative surface shows them, and the schema of a payment. The server writes amounts as decimal
 * strings, and leaves out what is undefined.
 */
import { toChecksum } from '@svc-zerc20/protocol'
import * as z from 'zod'
import type { Cursor, MintCursor, RecordedMint } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import { phaseAt } from '../../payment/lifecycle.js'
import type { OwedBooks } from '../../payment/owed.js'
import {
  type Burn,
  type DoneSweep,
  type Fee,
  lateReasons,
  type RecordedPayment,
} from '../../payment/records.js'
import type { FeesView } from '../../payment/sweep/control.js'
import type { SweepAnswer, UnderWay } from '../../payment/sweep/sweeper.js'
import { type WaitReason, waitReasons } from '../../payment/waits.js'
import {
  address,
  baseUnits,
  count,
  mint,
  named,
  nonce,
  phase,
  seconds,
  txHash,
  viewMint,
} from '../schema-parts.js'

const burn = named(
  'Burn',
  'A transfer to the burn address, as the chain recorded it.',
  z.looseObject({
    transaction: txHash,
    block: baseUnits,
    leafIndex: baseUnits,
    from: address,
    value: baseUnits,
  }),
)

const lateBurn = named(
  'LateBurn',
  'A burn that buys nothing, and why. `late`: mined or presented after expiry. `unpresented`: mined in time, and nobody ' +
    'presented it. `split`, `underpaid`: less ' +
    'than the amount, with or without others that make up for it. `unrecorded`: found on the chain, without a record.',
  z.looseObject({
    ...burn.shape,
    reason: z.enum(lateReasons),
    mint: mint.optional().describe('its own mint, where the payment has another'),
    finalizedAt: seconds.optional(),
  }),
)

export const stuckAddress = named(
  'StuckTransfers',
  'An address that got more than one leaf can bring: its transfers, and what lies there beyond the largest.',
  z.looseObject({
    challengeNonce: nonce,
    payTo: address,
    stuck: baseUnits,
    transfers: z.array(z.looseObject({ ...burn.shape, at: seconds })),
  }),
)

export const waitReason = named(
  'WaitReason',
  'What a burn that is not minted yet waits for. New ones may be added.',
  z.enum(Object.keys(waitReasons) as [WaitReason, ...WaitReason[]]),
)

const fee = named(
  'Fee',
  'The fee of one payment, as it was when the challenge was issued.',
  z.looseObject({
    amount: baseUnits,
    bps: count.describe('basis points of the list price'),
    chargeTo: z.enum(['payer', 'provider']).describe('on top of the list price, or out of it'),
    recipient: address.optional().describe('gets it from the treasury; absent in split mode'),
    swept: z.boolean().optional().describe('the treasury has sent it to the recipient'),
  }),
)

export const recordedPayment = named(
  'RecordedPayment',
  'A challenge and what became of it.',
  z.looseObject({
    challengeNonce: nonce,
    phase,
    amount: baseUnits,
    listPrice: baseUnits,
    fee: fee.optional().describe('the part of the amount that is not the provider’s'),
    payTo: address,
    treasury: address.optional().describe('where its mint goes'),
    issuedAt: seconds,
    expiresAt: seconds,
    seller: z.string().optional().describe('whose token asked for it; absent for a caller without one'),
    claimed: z.boolean().describe('a payload was presented; its burn is under way or done'),
    transaction: txHash.optional(),
    burn: burn.optional(),
    surplus: baseUnits.optional().describe('what was burned beyond the amount'),
    acceptedAt: seconds.optional(),
    demoted: z.boolean().optional().describe('a reorg took its burn away; it waits for a burn again'),
    mint: mint.optional(),
    finalizedAt: seconds.optional(),
    granted: z.boolean().describe('the one success answer was written'),
    late: lateBurn.optional().describe('a burn that buys nothing; it is minted all the same'),
    waiting: z
      .looseObject({ reason: waitReason, meaning: z.string(), since: seconds.optional() })
      .optional()
      .describe('why it is not minted yet'),
  }),
)

export function viewPayment(payment: RecordedPayment, nowMs: number, waitOf: OwedBooks['waitOf']) {
  const { challenge, claim, accepted, demoted, finalized, late, lateMinted, granted } = payment
  const isLateOwed = late !== undefined && !(accepted ? lateMinted : finalized)
  const isOwed = (accepted !== undefined && !finalized) || isLateOwed
  const surplus = accepted ? accepted.burn.value - challenge.amount : 0n
  return {
    challengeNonce: challenge.nonce,
    phase: phaseAt(payment, nowMs),
    amount: challenge.amount,
    listPrice: challenge.listPrice,
    fee: challenge.fee && viewFee(challenge.fee, payment.swept),
    payTo: toChecksum(challenge.payTo),
    treasury: toChecksum(challenge.treasury),
    issuedAt: challenge.issuedAt,
    expiresAt: challenge.expiresAt,
    seller: challenge.seller,
    claimed: claim !== undefined,
    transaction: (accepted ?? demoted)?.burn.txHash ?? claim?.txHash,
    burn: accepted && viewBurn(accepted.burn),
    acceptedAt: accepted?.at,
    surplus: surplus > 0n ? surplus : undefined,
    demoted: demoted && true,
    mint: finalized && viewMint(finalized.mint),
    finalizedAt: finalized?.at,
    granted,
    late: late && {
      ...viewBurn(late.burn),
      reason: late.reason,
      // Its own mint, where the payment itself has another.
      mint: lateMinted && viewMint(lateMinted.mint),
      finalizedAt: lateMinted?.at,
    },
    waiting: isOwed ? viewWait(waitOf(challenge.nonce)) : undefined,
  }
}

const viewFee = ({ amount, bps, chargeTo, recipient }: Fee, isSwept = false) => ({
  amount,
  bps,
  chargeTo,
  ...(recipient !== undefined && { recipient: toChecksum(recipient), swept: isSwept }),
})

const viewWait = ({ reason, sinceMs }: ReturnType<OwedBooks['waitOf']>) => ({
  reason,
  meaning: waitReasons[reason],
  since: sinceMs === undefined ? undefined : Math.floor(sinceMs / 1000),
})

const viewBurn = ({ txHash, blockNumber, leafIndex, from, value }: Burn) => ({
  transaction: txHash,
  block: blockNumber,
  leafIndex,
  from: toChecksum(from),
  value,
})

export const viewStuck = ({ challengeNonce, payTo, transfers, stuck }: StuckAddress) => ({
  challengeNonce,
  payTo: toChecksum(payTo),
  stuck,
  transfers: transfers.map(({ minedAt, ...burn }) => ({ ...viewBurn(burn), at: minedAt })),
})

export function viewFees(view: FeesView) {
  const { mode, terms, token, treasuryWei, due, elsewhere, underWay, swept, lastFailure, splitter } = view
  return {
    mode,
    treasury: toChecksum(terms.treasury),
    token,
    treasuryWei,
    earned: swept.amount + due.amount + elsewhere.amount + (underWay?.sweep.amount ?? 0n),
    sweepMin: terms.minAmount,
    sweepIntervalSeconds: terms.intervalMs / 1000,
    due,
    elsewhere: elsewhere.payments > 0 ? elsewhere : undefined,
    underWay: underWay && viewUnderWay(underWay),
    swept: { ...swept, last: swept.last && viewDone(swept.last) },
    lastError: lastFailure && {
      reason: lastFailure.why,
      message: lastFailure.message,
      at: lastFailure.at,
    },
    splitter: splitter && {
      address: toChecksum(splitter.address),
      undistributed: splitter.undistributed,
      last: splitter.last && {
        transaction: splitter.last.txHash,
        amount: splitter.last.amount,
        at: splitter.last.at,
      },
      lastError: splitter.lastFailure,
    },
  }
}

const viewUnderWay = ({ sweep, txHash }: UnderWay) => ({
  recipient: toChecksum(sweep.recipient),
  amount: sweep.amount,
  payments: sweep.challengeNonces.length,
  transaction: txHash,
})

const viewDone = ({ recipient, amount, payments, txHash, blockNumber, at }: DoneSweep) => ({
  recipient: toChecksum(recipient),
  amount,
  payments,
  transaction: txHash,
  block: blockNumber,
  at,
})

export function viewSweepAnswer(answer: SweepAnswer) {
  if (answer.kind === 'none') return { sweep: answer.why }
  if (answer.kind === 'failed')
    return { sweep: 'failed' as const, reason: answer.why, message: answer.message }
  return { sweep: answer.kind, ...viewUnderWay(answer) }
}

export function viewMinted({ mint, isBatch: batch, ...rest }: RecordedMint) {
  const { value: minted, ...place } = viewMint(mint)
  return { ...rest, minted, ...place, batch }
}

export const viewMintCursor = ({ at, payment, place }: MintCursor): string => `${at}.${payment}.${place}`

export const viewCursor = ({ issuedAt, nonce }: Cursor): string => `${issuedAt}.${nonce}`
