/**
 * Transfers to our addresses, as they were found on the chain, and how far it was followed. No event speaks of them: what
 * a power failure takes is found again, because the place up to which the chain was followed goes with it.
 */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import { type FollowedBlock, leastBelow } from '../../chain/transfers/issued-store.js'
import type { Epoch, EpochLeaf } from '../../payment/epochs/epoch.js'
import { burnIn, type FoundTransfer } from '../../payment/found/judge-transfers.js'
import type { Payment } from '../../payment/records.js'
import { epochColumn } from '../rows/payment-rows.js'
import { first, hexOf, key, list, type Row, type Step, sql } from '../sql.js'
import { decode, encode } from '../stored.js'
import type { StepContext } from './step-context.js'

export type Due = { readonly payTo: Address; readonly dueAt: number }

function* setDue(payTo: Address, dueAt: number): Step<void> {
  yield sql`
    INSERT INTO due_address (pay_to, due_at) VALUES (${key(payTo)}, ${dueAt})
    ON CONFLICT (pay_to) DO UPDATE SET due_at = excluded.due_at`
}

/** Transfers as they are kept, and whether a batch counted them: rows with `record`, and a `counted` that may be null. */
const kept = sql`
  transfer LEFT JOIN counted ON counted.leaf = transfer.leaf AND counted.pay_to = transfer.pay_to`

const transferIn = ({ record, counted }: Row): FoundTransfer => ({
  ...decode<FoundTransfer>(record),
  ...(counted !== null && { isCounted: true }),
})

/** Transfers to an address that are kept, in the order of the chain. */
export function* transfersTo(payTo: Address): Step<readonly FoundTransfer[]> {
  const rows = yield sql`
    SELECT record, counted.leaf AS counted FROM ${kept} WHERE transfer.pay_to = ${key(payTo)} ORDER BY transfer.leaf`
  return rows.map(transferIn)
}

/** Transfers to addresses of an epoch. */
export function* transfersOf(epoch: Epoch): Step<readonly EpochLeaf[]> {
  const rows = yield sql`
    SELECT payment.record AS payment, transfer.record AS record, counted.leaf AS counted
    FROM ${kept} JOIN payment ON payment.pay_to = transfer.pay_to
    WHERE epoch = ${epochColumn(epoch)} AND treasury = ${key(epoch.treasury)} ORDER BY transfer.pay_to, transfer.leaf`
  return rows.map((row) => ({
    challenge: decode<Payment>(row.payment).challenge,
    burn: burnIn(transferIn(row)),
    isCounted: row.counted !== null,
  }))
}

function* putTransfer(
  { settings }: StepContext,
  payTo: Address,
  transfer: FoundTransfer,
  dueAt: number,
): Step<'kept' | 'known' | 'full'> {
  const { isCounted: _, ...found } = transfer
  const { leafIndex, blockNumber } = found
  const kept = yield* transfersTo(payTo)
  const isKnown = kept.some((each) => each.leafIndex === leafIndex)
  if (!isKnown && kept.length >= settings.foundPerAddressMax) {
    const least = leastBelow(kept, transfer)
    if (!least) return 'full'
    yield sql`DELETE FROM transfer WHERE leaf = ${Number(least.leafIndex)}`
  }
  yield sql`
    INSERT INTO transfer (leaf, pay_to, block, record)
    VALUES (${Number(leafIndex)}, ${key(payTo)}, ${Number(blockNumber)}, ${encode(found)})
    ON CONFLICT (leaf) DO UPDATE SET pay_to = excluded.pay_to, block = excluded.block, record = excluded.record`
  yield* setDue(payTo, dueAt)
  return isKnown ? 'known' : 'kept'
}

function* countTransfer(context: StepContext, payTo: Address, leafIndex: bigint): Step<void> {
  const row = yield* first(sql`SELECT nonce FROM payment WHERE pay_to = ${key(payTo)}`)
  if (!row) return
  const nonce = hexOf(row.nonce) as ChallengeNonce
  yield* context.record({ event: 'transfer_counted', challengeNonce: nonce, payTo, leafIndex })
}

function* setFollowed(_: StepContext, block: FollowedBlock): Step<void> {
  yield sql`
    INSERT INTO followed (one, record) VALUES (1, ${encode(block)})
    ON CONFLICT (one) DO UPDATE SET record = excluded.record`
}

function* accountedFor(_: StepContext, { payTo, dueAt }: Due, next: number | undefined): Step<void> {
  // A transfer that came meanwhile has set another time.
  const row = yield* first(sql`SELECT due_at FROM due_address WHERE pay_to = ${key(payTo)}`)
  if (row && row.due_at !== dueAt) return
  if (next === undefined) yield sql`DELETE FROM due_address WHERE pay_to = ${key(payTo)}`
  else yield* setDue(payTo, next)
}

function* dropTransfers(_: StepContext, payTo: Address): Step<void> {
  yield sql`DELETE FROM transfer WHERE pay_to = ${key(payTo)}`
}

function* dropTransfersAfter(_: StepContext, block: number): Step<void> {
  yield sql`DELETE FROM transfer WHERE block > ${block}`
}

/** Forgets challenges that nobody paid, with everything about them. */
function* forget({ rows }: StepContext, ids: readonly number[]): Step<void> {
  rows.forgetAll()
  const those = sql`(SELECT id FROM payment WHERE stage = 'unclaimed' AND id IN ${list(ids)})`
  const addresses = sql`(SELECT pay_to FROM payment WHERE id IN ${those})`
  yield sql`DELETE FROM transfer WHERE pay_to IN ${addresses}`
  yield sql`DELETE FROM due_address WHERE pay_to IN ${addresses}`
  yield sql`DELETE FROM counted WHERE pay_to IN ${addresses}`
  yield sql`DELETE FROM event WHERE payment IN ${those}`
  yield sql`DELETE FROM payment WHERE id IN ${those}`
  yield sql`UPDATE ledger SET forgotten = forgotten + 1`
}

export const transferSteps = {
  putTransfer,
  countTransfer,
  setFollowed,
  accountedFor,
  dropTransfers,
  dropTransfersAfter,
  forget,
}
