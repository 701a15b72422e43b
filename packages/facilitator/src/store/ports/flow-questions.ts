/** Questions of the payment flow. They change nothing and see only what is durable. */
import type { ChallengeNonce, Payload } from '@svc-zerc20/protocol'
import type { InterruptedWork } from '../../payment/ledger-port.js'
import type {
  AwaitingMint,
  Burn,
  Challenge,
  Interrupted,
  InterruptedMint,
  OpenSweep,
  Payment,
  ShallowBurns,
  SignedTransaction,
  Sweep,
  Swept,
} from '../../payment/records.js'
import type { DueFee } from '../../payment/sweep/due.js'
import { dueFeeIn, type Leaf } from '../leaves.js'
import { loadLeaves } from '../rows/leaf-rows.js'
import { type Slot, slots } from '../rows/transaction-rows.js'
import { first, hexOf, key, type Step, sql } from '../sql.js'
import { decode } from '../stored.js'
import { sumColumns, sumIn } from '../units.js'

/** The table of leaves is not read: whether a payment is minted takes no time here. */
export function* findPayment(nonce: ChallengeNonce): Step<Payment | undefined> {
  const row = yield* first(sql`SELECT record FROM payment WHERE nonce = ${key(nonce)}`)
  return row && decode<Payment>(row.record)
}

/** A place in a list that is read part by part. */
export type Place = { readonly at: number; readonly payment: number; readonly place: number }
export const start: Place = { at: -1, payment: 0, place: 0 }

/** Leaves that await their mint, oldest first, from a place on. */
export function* awaitingMint(
  { at, payment, place }: Place,
  limit: number,
): Step<readonly { readonly awaiting: AwaitingMint; readonly next: Place }[]> {
  const rows = yield sql`
    SELECT burned_at, payment, place, record FROM leaf
    WHERE awaits_mint = 1 AND (burned_at, payment, place) > (${at}, ${payment}, ${place})
    ORDER BY burned_at, payment, place LIMIT ${limit}`
  return rows.map((row) => {
    const { challenge, burn, at: burnedAt, reason } = decode<Leaf>(row.record)
    return {
      awaiting: { challenge, burn, ...(reason === undefined && { acceptedAt: burnedAt }) },
      next: { at: row.burned_at, payment: row.payment, place: row.place },
    }
  })
}

/** Fees that are due and in no sweep, oldest first, from a place on. */
export function* feesDue(
  { at, payment }: Place,
  limit: number,
): Step<readonly { readonly due: DueFee | undefined; readonly next: Place }[]> {
  const rows = yield sql`
    SELECT burned_at, payment, nonce FROM leaf
    WHERE fee_due_to IS NOT NULL AND (burned_at, payment) > (${at}, ${payment})
    ORDER BY burned_at, payment LIMIT ${limit}`
  const found: { due: DueFee | undefined; next: Place }[] = []
  for (const row of rows) {
    const { leaves } = yield* loadLeaves(hexOf(row.nonce) as ChallengeNonce)
    found.push({ due: dueFeeIn(leaves), next: { at: row.burned_at, payment: row.payment, place: 0 } })
  }
  return found
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
  const forms = new Map(
    (yield* slots('sweep')).map((slot) => [slot.transactions[0]?.txNonce, slot.transactions]),
  )
  return rows.map(({ open_tx_nonce: txNonce, record }) => ({
    ...decode<Sweep>(record),
    transactions: forms.get(txNonce) ?? [],
  }))
}

export function* openDistributions(): Step<readonly (readonly SignedTransaction[])[]> {
  return (yield* slots('distribution')).map(({ transactions }) => transactions)
}

export function* swept(): Step<Swept> {
  const done = sql`FROM sweep WHERE open_tx_nonce IS NULL`
  const sums = yield* first(sql`
    SELECT count(*) AS sweeps, COALESCE(sum(payments), 0) AS payments, ${sumColumns('amount', 'amount')} ${done}`)
  const last = yield* first(sql`SELECT record ${done} ORDER BY id DESC LIMIT 1`)
  return {
    sweeps: sums?.sweeps,
    payments: sums?.payments,
    amount: sumIn(sums, 'amount') as Swept['amount'],
    ...(last && { last: decode<NonNullable<Swept['last']>>(last.record) }),
  }
}

type Item = Interrupted['items'][number]

/** Work that was under way when the last run ended. A burn that several transactions carried belongs to the newest. */
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
    unsigned: items.filter(({ challenge }) => !carrier.has(challenge.nonce)),
    transfers,
    mints: yield* interruptedMints(),
  }
}

function* claimsUnderWay(): Step<{
  readonly items: readonly Item[]
  readonly transfers: InterruptedWork['transfers']
}> {
  const rows = yield sql`
    SELECT payment.record AS payment, permit.record AS permit FROM payment LEFT JOIN permit ON permit.nonce = payment.nonce
    WHERE stage IN ('claimed', 'demoted') ORDER BY payment.id`
  const items: Item[] = []
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
  const items: Item[] = []
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
