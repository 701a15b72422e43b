/**
 * Applies an event: writes the event, and changes the rows that follow from it. It reads nothing that no event wrote, so a
 * replay of the journal gives the same rows. Two things are in no event: who asked for an open challenge, which only the step
 * that issues it knows, and that a challenge that nobody paid is forgotten whole (`forget`).
 */
import { type ChallengeNonce, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, DoneSweep, Payment, SignedTransaction, Sweep } from '../payment/records.js'
import type { EventName, EventNamed, LedgerEvent } from './events.js'
import { fold, type PaymentEvent } from './fold-payment.js'
import { type Leaves, withFee, withLate, withMint, withMoved, withoutAccepted } from './leaves.js'
import type { PaymentRow } from './rows/payment-rows.js'
import { doubtSetting, type Rows } from './rows/rows.js'
import {
  addSigned,
  endCarried,
  forgetFinalSlots,
  forgetPermit,
  forgetSlot,
  keepMinedSlot,
  takeBack,
} from './rows/transaction-rows.js'
import { first, key, type Step, sql } from './sql.js'
import { decode, encode } from './stored.js'
import { unitsColumn } from './units.js'

/** Limits on keeping the signed bytes of accepted burns, with which a reorg is answered. */
export type KeepSigned = {
  /** The bytes are kept until a burn this many blocks higher is accepted. */
  readonly blocks: number
}

export type Applied = {
  readonly at: UnixSeconds
  readonly keep: KeepSigned
  readonly rows: Rows
}

/** Gives the number of the payment that the event is about; undefined for none, or several. */
type Change<Name extends EventName> = (event: EventNamed<Name>, applied: Applied) => Step<number | undefined>

const changes: { readonly [Name in EventName]: Change<Name> } = {
  *ledger_bound({ binding }) {
    yield sql`UPDATE ledger SET record = ${encode(binding)}`
    return undefined
  },
  *account_bound({ name, account: { address, txNonce } }) {
    yield sql`
      INSERT INTO account (name, address, tx_nonce) VALUES (${name}, ${key(address)}, ${txNonce})
      ON CONFLICT (name) DO UPDATE SET address = excluded.address, tx_nonce = excluded.tx_nonce`
    return undefined
  },
  *challenge_issued({ challenge }, { rows }) {
    // Its address has left the stock in the same moment, so that nobody is handed it again.
    yield sql`DELETE FROM ready WHERE nonce = ${key(challenge.nonce)}`
    return yield* rows.insert({ challenge, granted: false })
  },
  *payment_claimed(event, applied) {
    const { challengeNonce: nonce, payload } = event
    if (payload.kind === 'permit') {
      yield sql`INSERT INTO permit (nonce, record) VALUES (${key(nonce)}, ${encode({ payload })})`
    }
    return yield* changePayment(event, applied)
  },
  *burn_signed(event, applied) {
    const carried: ChallengeNonce[] = []
    for (const nonce of event.challengeNonces) {
      // A transaction with a raised price may be signed after some of its burns ended.
      const { payment } = (yield* applied.rows.payment(nonce)) ?? {}
      if (!payment?.claim || payment.accepted) continue
      yield* change(nonce, event, applied)
      carried.push(nonce)
    }
    yield* noteTxNonce(event.transaction)
    if (carried.length > 0) yield* addSigned('burn', event.transaction, carried)
    return undefined
  },
  *claim_released(event, applied) {
    const { challengeNonce: nonce } = event
    yield* endCarried('burn', nonce)
    yield sql`DELETE FROM permit WHERE nonce = ${key(nonce)}`
    return (yield* change(nonce, event, applied)).id
  },
  *payment_accepted(event, applied) {
    const { challengeNonce: nonce, burn } = event
    const { id, payment } = yield* change(nonce, event, applied)
    const leaf = { challenge: payment.challenge, burn, at: applied.at }
    yield* applied.rows.addFee(payment.challenge.fee?.amount ?? 0n)
    yield* changeLeaves(nonce, (leaves) => ({ ...leaves, accepted: leaf }), applied, id)
    yield* keepBytes(payment, burn, applied.keep)
    return id
  },
  *payment_demoted(event, applied) {
    const { challengeNonce: nonce } = event
    const { id, payment } = yield* change(nonce, event, applied)
    yield* applied.rows.addFee(-(payment.challenge.fee?.amount ?? 0n))
    yield* changeLeaves(nonce, withoutAccepted, applied)
    yield* takeBack(nonce)
    return id
  },
  *burn_moved(event, applied) {
    const { challengeNonce: nonce, of, burn } = event
    const { id } = yield* change(nonce, event, applied)
    yield* changeLeaves(nonce, (leaves) => withMoved(leaves, of, burn), applied)
    return id
  },
  *mint_signed({ transaction, challengeNonces }, { rows }) {
    yield* noteTxNonce(transaction)
    yield* addSigned('mint', transaction, challengeNonces)
    const [nonce, ...others] = challengeNonces
    return nonce && others.length === 0 ? (yield* rows.payment(nonce))?.id : undefined
  },
  *payment_finalized({ challengeNonce: nonce, mint, burned }, applied) {
    yield* endCarried('mint', nonce)
    return yield* changeLeaves(nonce, (leaves) => withMint(leaves, { mint, at: applied.at }, burned), applied)
  },
  *burn_late(event, applied) {
    const { challenge, burn, reason } = event
    const { nonce } = challenge
    const { at } = applied
    const { id } = yield* change(nonce, event, applied)
    yield* changeLeaves(nonce, (leaves) => withLate(leaves, { challenge, burn, reason, at }), applied, id)
    return id
  },
  burn_unmatched: changePayment,
  *transfer_counted({ challengeNonce, payTo, leafIndex }, { rows }) {
    yield sql`
      INSERT INTO counted (leaf, pay_to) VALUES (${Number(leafIndex)}, ${key(payTo)})
      ON CONFLICT (leaf) DO UPDATE SET pay_to = excluded.pay_to`
    return (yield* rows.payment(challengeNonce))?.id
  },
  grant_used: changePayment,
  payment_disclosed: changePayment,
  sweep_signed: signSweep,
  sweep_ended: endSweep,
  *sweep_found({ event: _, challengeNonces, ...done }, applied) {
    yield* addSweep({ ...done, payments: challengeNonces.length, at: applied.at })
    for (const nonce of challengeNonces)
      yield* changeLeaves(nonce, (leaves) => withFee(leaves, 'swept'), applied)
    return undefined
  },
  *setting_changed({ name, setting }) {
    yield sql`
      INSERT INTO setting (name, record) VALUES (${name}, ${encode({ setting })})
      ON CONFLICT (name) DO UPDATE SET record = excluded.record`
    if (name === doubtSetting) yield* dropDoubted()
    return undefined
  },
}

/** Ready addresses of a copy may have been handed out behind it, and blocks that it followed may have been replaced. */
function* dropDoubted(): Step<void> {
  yield sql`DELETE FROM ready`
  yield sql`DELETE FROM followed`
  yield sql`INSERT INTO due_address (pay_to, due_at) SELECT DISTINCT pay_to, 0 FROM transfer WHERE true
    ON CONFLICT (pay_to) DO UPDATE SET due_at = 0`
}

/** Whether this version knows events of this name. */
export const isEvent = (name: string): boolean => Object.hasOwn(changes, name)

/** Applies the event with this number, at this second. `text` is the event as JSON. */
export function* apply(event: LedgerEvent, seq: number, applied: Applied, text = encode(event)): Step<void> {
  const change = changes[event.event] as Change<EventName>
  const payment = yield* change(event as never, applied)
  yield sql`
    INSERT INTO event (seq, at, kind, payment, record)
    VALUES (${seq}, ${applied.at}, ${event.event}, ${payment ?? null}, ${text})`
}

/** For an event that changes its payment and nothing else. */
function* changePayment(
  event: Exclude<PaymentEvent, EventNamed<'burn_signed' | 'burn_late'>>,
  applied: Applied,
): Step<number> {
  return (yield* change(event.challengeNonce, event, applied)).id
}

/** The payment after the event. */
function* change(nonce: ChallengeNonce, event: PaymentEvent, { at, rows }: Applied): Step<PaymentRow> {
  const row = yield* rows.payment(nonce)
  if (!row) throw new SvcError('payment_lost', `no payment ${nonce} in the ledger`)
  const payment = fold(row.payment, event, at)
  if (payment !== row.payment) yield* rows.update(row, payment)
  return { id: row.id, payment }
}

/** The number of the payment, which its first leaf must be told. */
function* changeLeaves(
  nonce: ChallengeNonce,
  make: (leaves: Leaves) => Leaves,
  { rows }: Applied,
  payment?: number,
): Step<number | undefined> {
  const { payment: id = payment, leaves } = yield* rows.leaves(nonce)
  const after = make(leaves)
  if (after !== leaves && id !== undefined) yield* rows.saveLeaves(nonce, id, leaves, after)
  return id
}

/** Keeps the signed bytes of an accepted burn while a reorg could take it back, and lets go of deep ones. */
function* keepBytes({ claim, challenge }: Payment, burn: Burn, keep: KeepSigned): Step<void> {
  if (!claim?.permit) return
  const { nonce } = challenge
  const block = Number(burn.blockNumber)
  yield* keepMinedSlot(nonce, burn.txHash, block)
  yield* forgetPermit(nonce)
  yield* forgetFinalSlots(block - keep.blocks)
}

/** Keeps the highest txNonce of the account that signed, which must outlive its transaction. */
function* noteTxNonce({ txNonce, from }: SignedTransaction): Step<void> {
  yield sql`UPDATE account SET tx_nonce = ${txNonce} WHERE tx_nonce < ${txNonce} AND address = ${key(from)}`
}

function* signSweep(
  { recipient, amount, challengeNonces, transaction }: EventNamed<'sweep_signed'>,
  applied: Applied,
): Step<undefined> {
  const sweep: Sweep = { recipient, amount, challengeNonces }
  yield* addSigned('sweep', transaction, [])
  yield sql`
    INSERT INTO sweep (open_tx_nonce, amount, payments, record)
    VALUES (${transaction.txNonce}, ${unitsColumn(amount)}, ${challengeNonces.length}, ${encode(sweep)})
    ON CONFLICT (open_tx_nonce) DO NOTHING`
  for (const nonce of challengeNonces)
    yield* changeLeaves(nonce, (leaves) => withFee(leaves, 'sweeping'), applied)
}

function* endSweep(event: EventNamed<'sweep_ended'>, applied: Applied): Step<undefined> {
  const { txNonce, from, txHash, blockNumber } = event
  const row = yield* first(sql`DELETE FROM sweep WHERE open_tx_nonce = ${txNonce} RETURNING record`)
  if (!row) return
  yield* forgetSlot('sweep', txNonce, from)
  const { recipient, amount, challengeNonces } = decode<Sweep>(row.record)
  const isDone = txHash !== undefined && blockNumber !== undefined
  for (const nonce of challengeNonces) {
    yield* changeLeaves(nonce, (leaves) => withFee(leaves, isDone ? 'swept' : undefined), applied)
  }
  const payments = challengeNonces.length
  if (isDone) yield* addSweep({ recipient, amount, payments, txHash, blockNumber, at: applied.at })
}

function* addSweep(done: DoneSweep): Step<void> {
  yield sql`
    INSERT INTO sweep (amount, payments, record) VALUES (${unitsColumn(done.amount)}, ${done.payments}, ${encode(done)})`
}
