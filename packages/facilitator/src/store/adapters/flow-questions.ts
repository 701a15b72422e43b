/** Questions of the payment flow. They change nothing and see only what is durable. */
import type { Address, BaseUnits, ChallengeNonce, Payload } from '@svc-zerc20/protocol'
import type { InterruptedWork, PayerRecord, Presented } from '../../payment/ledger-port.js'
import type {
  AwaitingMint,
  Burn,
  Challenge,
  ClaimedPermit,
  InterruptedMint,
  OpenSweep,
  Payment,
  ShallowBurns,
  Sweep,
  Swept,
} from '../../payment/records.js'
import type { FeesDue, RecipientDue } from '../../payment/sweep/plan.js'
import type { FeeLedger } from '../../payment/sweep/ports.js'
import type { Leaf } from '../leaves.js'
import { awaitingIn } from '../rows/leaf-rows.js'
import { claimsIn, claimsOf, isUnderWay } from '../rows/rows.js'
import { type Slot, slots } from '../rows/transaction-rows.js'
import { allOf, first, hexOf, key, type Query, type Row, type Step, sql } from '../sql.js'
import { waitOf } from '../steps/payer-steps.js'
import { decode } from '../stored.js'
import { sumColumns, sumIn } from '../units.js'

/** The table of leaves is not read: whether a payment is minted takes no time here. */
export function* findPayment(nonce: ChallengeNonce): Step<Payment | undefined> {
  const row = yield* first(sql`SELECT record FROM payment WHERE nonce = ${key(nonce)}`)
  return row && decode<Payment>(row.record)
}

export function* ofPayer(payer: Address, nowMs: Query): Step<PayerRecord> {
  const openClaims = [...claimsIn(yield claimsOf(payer)).values()]
  return { openClaims, waitMs: waitIn(yield* first(sql`SELECT ${waitOf(payer, nowMs)} AS wait_ms`)) }
}

const waitIn = (row: Row | undefined): number => Math.max(0, row?.wait_ms ?? 0)

/**
 * The payment that a payload names, with the open claims of its payer, and its wait. All of it is read by one statement.
 */
export function* presented(
  payload: Payload.Payload,
  nowMs: Query,
): Step<{
  readonly payment: Payment | undefined
  readonly known: Omit<Presented, 'payment'>
}> {
  const { challengeNonce: nonce } = payload
  const payer = payload.kind === 'permit' ? payload.payer : undefined
  const wait = payer ? waitOf(payer, nowMs) : sql`NULL`
  const columns = sql`id, claim_payer, record, ${wait} AS wait_ms`
  const ofPayer =
    payer &&
    sql`
    UNION ALL SELECT 1 AS is_claim, ${columns} FROM payment WHERE claim_payer = ${key(payer)} AND ${isUnderWay}`
  const all = yield sql`
    SELECT 0 AS is_claim, ${columns} FROM payment WHERE nonce = ${key(nonce)} ${ofPayer ?? sql``} ORDER BY 1, 2`
  const payments = all.filter((row) => row.is_claim === 0)
  const claims = all.filter((row) => row.is_claim === 1)
  return {
    payment: payments[0] && decode<Payment>(payments[0].record),
    known: payer ? { payer: { openClaims: [...claimsIn(claims).values()], waitMs: waitIn(all[0]) } } : {},
  }
}

/** Where a leaf stands among those that await their mint. */
export type AwaitingPlace = { readonly at: number; readonly payment: number; readonly place: number }

export type AwaitingQuery = {
  /** Only payments that are minted in batches. */
  readonly inEpochs: boolean
  /** Only those behind this place. */
  readonly after: AwaitingPlace | undefined
  readonly limit: number
}

/** Leaves that await their mint, oldest first. */
export function* awaitingMint({
  inEpochs,
  after,
  limit,
}: AwaitingQuery): Step<readonly { readonly awaiting: AwaitingMint; readonly place: AwaitingPlace }[]> {
  const isAsked = allOf([
    sql`awaits_mint = 1`,
    after && sql`(burned_at, payment, place) > (${after.at}, ${after.payment}, ${after.place})`,
    inEpochs && sql`payment IN (SELECT id FROM payment WHERE epoch IS NOT NULL)`,
  ])
  const rows = yield sql`
    SELECT burned_at, payment, place, record FROM leaf WHERE ${isAsked} ORDER BY burned_at, payment, place LIMIT ${limit}`
  return rows.map((row) => ({
    awaiting: awaitingIn(row),
    place: { at: row.burned_at, payment: row.payment, place: row.place },
  }))
}

/** Fees that are due and in no sweep, by recipient. */
export function* feesDue({ treasury, paymentsMax }: Parameters<FeeLedger['feesDue']>[0]): Step<FeesDue> {
  const sums = sql`count(*) AS payments, ${sumColumns('fee', 'amount')}`
  const isHere = sql`fee_due_to IS NOT NULL AND treasury = ${key(treasury)}`
  const recipients = yield sql`
    SELECT fee_due_to, ${sums}, min(minted_at) AS oldest_at, min(minted_block) AS from_block
    FROM leaf WHERE ${isHere} GROUP BY fee_due_to ORDER BY fee_due_to`
  const due: RecipientDue[] = []
  for (const row of recipients) {
    const recipient = hexOf(row.fee_due_to) as Address
    const oldest = yield sql`
      SELECT record FROM leaf WHERE ${isHere} AND fee_due_to = ${key(recipient)} ORDER BY minted_at, payment LIMIT ${paymentsMax}`
    due.push({
      recipient,
      payments: row.payments,
      amount: sumIn(row, 'amount') as BaseUnits,
      oldestAt: row.oldest_at,
      fromBlock: BigInt(row.from_block),
      oldest: oldest.map(({ record }) => {
        const { nonce, fee } = decode<Leaf>(record).challenge
        return { nonce, amount: fee?.amount ?? (0n as BaseUnits) }
      }),
    })
  }
  const elsewhere = yield* first(sql`
    SELECT ${sums} FROM leaf WHERE fee_due_to IS NOT NULL AND treasury <> ${key(treasury)}`)
  return {
    due,
    elsewhere: { payments: elsewhere?.payments, amount: sumIn(elsewhere, 'amount') as BaseUnits },
  }
}

export function* demotedPayments(): Step<readonly { readonly challenge: Challenge; readonly burn: Burn }[]> {
  const rows = yield sql`SELECT record FROM payment WHERE stage = 'demoted' ORDER BY id`
  return rows.flatMap(({ record }) => {
    const { challenge, demoted } = decode<Payment>(record)
    return demoted ? [{ challenge, burn: demoted.burn }] : []
  })
}

export function* openSweeps(): Step<readonly OpenSweep[]> {
  const rows =
    yield sql`SELECT open_tx_nonce, record FROM sweep WHERE open_tx_nonce IS NOT NULL ORDER BY open_tx_nonce`
  const versions = new Map(
    (yield* slots('sweep')).map((slot) => [slot.transactions[0]?.txNonce, slot.transactions]),
  )
  return rows.map(({ open_tx_nonce: txNonce, record }) => ({
    ...decode<Sweep>(record),
    transactions: versions.get(txNonce) ?? [],
  }))
}

export function* swept(): Step<Swept> {
  const done = sql`FROM sweep WHERE open_tx_nonce IS NULL`
  const sums = yield* first(sql`
    SELECT count(*) AS sweeps, CAST(COALESCE(sum(payments), 0) AS BIGINT) AS payments, ${sumColumns('amount', 'amount')} ${done}`)
  const last = yield* first(sql`SELECT record ${done} ORDER BY id DESC LIMIT 1`)
  return {
    sweeps: sums?.sweeps,
    payments: sums?.payments,
    amount: sumIn(sums, 'amount') as Swept['amount'],
    ...(last && { last: decode<NonNullable<Swept['last']>>(last.record) }),
  }
}

/** Work that was under way when the ledger was last used. A burn that several transactions carried belongs to the newest. */
export function* interrupted(): Step<InterruptedWork> {
  const burns = yield* slots('burn')
  const { items, transfers } = yield* claimsUnderWay()
  const carrier = new Map<ChallengeNonce, string>()
  for (const { name, carried } of burns) {
    for (const { nonce, acceptedBlock } of carried) if (acceptedBlock === undefined) carrier.set(nonce, name)
  }
  const shallow = new Map<string, ShallowBurns>()
  for (const slot of burns) {
    const accepted = yield* shallowIn(slot)
    if (accepted) shallow.set(slot.name, accepted)
  }
  const isUnderWay = ({ carried }: Slot) => carried.some(({ acceptedBlock }) => acceptedBlock === undefined)
  return {
    transactions: burns.filter(isUnderWay).map(({ name, transactions }) => ({
      transactions,
      items: items.filter(({ challenge }) => carrier.get(challenge.nonce) === name),
      accepted: shallow.get(name)?.items ?? [],
    })),
    shallow: burns.filter((slot) => !isUnderWay(slot)).flatMap(({ name }) => shallow.get(name) ?? []),
    unsigned: items.filter((item) => !carrier.has(item.challenge.nonce)),
    transfers,
    mints: yield* interruptedMints(),
  }
}

function* claimsUnderWay(): Step<{
  readonly items: readonly ClaimedPermit[]
  readonly transfers: InterruptedWork['transfers']
}> {
  const rows = yield sql`
    SELECT payment.record AS payment, permit.record AS permit FROM payment LEFT JOIN permit ON permit.nonce = payment.nonce
    WHERE stage IN ('claimed', 'demoted') ORDER BY payment.id`
  const items: ClaimedPermit[] = []
  const transfers: InterruptedWork['transfers'][number][] = []
  for (const row of rows) {
    const { challenge, claim } = decode<Payment>(row.payment)
    if (row.permit !== null) items.push({ challenge, payload: permitIn(row.permit) })
    else if (!claim?.permit && claim?.txHash !== undefined) {
      const payload = {
        kind: 'self-transfer',
        challengeNonce: challenge.nonce,
        burnTxHash: claim.txHash,
      } as const
      transfers.push({ challenge, payload })
    }
  }
  return { items, transfers }
}

const permitIn = (record: string): Payload.PermitPayload =>
  decode<{ payload: Payload.PermitPayload }>(record).payload

/** Accepted burns of a slot that are not deep yet. */
function* shallowIn({ transactions, carried }: Slot): Step<ShallowBurns | undefined> {
  const items: ClaimedPermit[] = []
  let block: ShallowBurns['block'] | undefined
  for (const { nonce, acceptedBlock } of carried) {
    if (acceptedBlock === undefined) continue
    const row = yield* first(sql`
      SELECT payment.record AS payment, permit.record AS permit FROM payment JOIN permit ON permit.nonce = payment.nonce
      WHERE payment.nonce = ${key(nonce)}`)
    const { challenge, accepted } = row ? decode<Payment>(row.payment) : {}
    if (!row || !challenge || !accepted) continue
    items.push({ challenge, payload: permitIn(row.permit) })
    block = accepted.burn
  }
  return block && { transactions, items, block }
}

function* interruptedMints(): Step<readonly InterruptedMint[]> {
  return (yield* slots('mint')).map(({ transactions, carried }) => ({
    transactions,
    nonces: carried.map(({ nonce }) => nonce),
  }))
}
