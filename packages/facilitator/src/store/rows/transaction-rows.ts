/**
 * Signed transactions as rows. A slot is one txNonce of an account, for one purpose. It has the signed versions of its
 * transaction, and the payments that it carries. After a crash or a reorg the same bytes are sent again. A slot that carries
 * nothing any more is forgotten.
 */
import type { Address, ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import type { Purpose, SignedTransaction } from '../../payment/records.js'
import { hexOf, key, list, type Query, type Row, type Step, sql } from '../sql.js'
import { decode, encode } from '../stored.js'

export type Slot = {
  readonly name: string
  /** Every signed version, oldest first. */
  readonly transactions: readonly SignedTransaction[]
  readonly carried: readonly { readonly nonce: ChallengeNonce; readonly acceptedBlock?: number }[]
}

const slotOf = (kind: Purpose, txNonce: number, account: Address) => `${kind}/${account}/${txNonce}`

/** The names of slots of a purpose are all between these two. */
export const isOf = (purpose: Purpose): Query => sql`slot > ${`${purpose}/`} AND slot < ${`${purpose}0`}`

/** Burns and mints of one account share its txNonces. */
const otherUserOfTxNonce: Partial<Record<Purpose, Purpose>> = { burn: 'mint', mint: 'burn' }

/**
 * Adds a signed version, and payments to those that its transaction carries already. Another call under the same txNonce was
 * recorded, but its sender never heard of that: it was not sent, and must not be sent by the next holder of the account.
 */
export function* addSigned(
  purpose: Purpose,
  transaction: SignedTransaction,
  nonces: readonly ChallengeNonce[],
): Step<void> {
  const { txNonce, from, isReplacement } = transaction
  const slot = slotOf(purpose, txNonce, from)
  const other = otherUserOfTxNonce[purpose]
  // An empty call gives up another one that is out, and may still be mined.
  if (nonces.length > 0 && !isReplacement) {
    for (const kind of other ? [purpose, other] : [purpose]) yield* forgetSlot(kind, txNonce, from)
  }
  yield sql`
    INSERT INTO signed (hash, slot, record) VALUES (${key(transaction.hash)}, ${slot}, ${encode(transaction)})
    ON CONFLICT DO NOTHING`
  for (const nonce of nonces) {
    yield sql`INSERT INTO carried (nonce, slot) VALUES (${key(nonce)}, ${slot}) ON CONFLICT DO NOTHING`
  }
}

export function* isCarried(nonce: ChallengeNonce): Step<boolean> {
  return (yield sql`SELECT 1 FROM carried WHERE nonce = ${key(nonce)} AND ${isOf('burn')} LIMIT 1`).length > 0
}

/** Ends a payment that needs no transaction of this purpose any more. */
export function* endCarried(purpose: Purpose, nonce: ChallengeNonce): Step<void> {
  yield* forgetEmpty(
    yield sql`DELETE FROM carried WHERE nonce = ${key(nonce)} AND ${isOf(purpose)} RETURNING slot`,
  )
}

/** Below every block, so that `forgetFinalSlots` takes it. */
const noBlock = -(2 ** 40)

/** Keeps one slot of this payment: the one whose transaction holds the accepted burn. */
export function* keepMinedSlot(nonce: ChallengeNonce, minedTx: TxHash, block: number): Step<void> {
  yield sql`
    UPDATE carried SET accepted_block =
      CASE slot WHEN (SELECT slot FROM signed WHERE hash = ${key(minedTx)}) THEN CAST(${block} AS BIGINT) ELSE CAST(${noBlock} AS BIGINT) END
    WHERE nonce = ${key(nonce)} AND ${isOf('burn')}`
}

/** A reorg took the accepted burn: it is under way again. */
export function* takeBack(nonce: ChallengeNonce): Step<void> {
  yield sql`UPDATE carried SET accepted_block = NULL WHERE nonce = ${key(nonce)} AND ${isOf('burn')}`
}

/**
 * Forgets accepted burns at this block and below, and the permits that would send them again. Mostly there are none, and
 * nobody asks first: a question to a server is waited for, and a change is not.
 */
export function* forgetFinalSlots(block: number): Step<void> {
  const isDeep = sql`accepted_block <= ${block}`
  const isCarriedElse = sql`(accepted_block IS NULL OR accepted_block > ${block})`
  yield sql`
    DELETE FROM permit WHERE nonce IN (SELECT nonce FROM carried WHERE ${isDeep})
      AND NOT EXISTS (SELECT 1 FROM carried WHERE carried.nonce = permit.nonce AND ${isOf('burn')} AND ${isCarriedElse})`
  yield sql`
    DELETE FROM signed WHERE slot IN (SELECT slot FROM carried WHERE ${isDeep})
      AND NOT EXISTS (SELECT 1 FROM carried WHERE carried.slot = signed.slot AND ${isCarriedElse})`
  yield sql`DELETE FROM carried WHERE ${isDeep}`
}

/** Forgets the permit of a payment that no transaction with a burn carries. */
export function* forgetPermit(nonce: ChallengeNonce): Step<void> {
  yield sql`
    DELETE FROM permit WHERE nonce = ${key(nonce)}
      AND NOT EXISTS (SELECT 1 FROM carried WHERE carried.nonce = permit.nonce AND ${isOf('burn')})`
}

export function* forgetSlot(kind: Purpose, txNonce: number, account: Address): Step<void> {
  const slot = slotOf(kind, txNonce, account)
  yield sql`DELETE FROM carried WHERE slot = ${slot}`
  yield sql`DELETE FROM signed WHERE slot = ${slot}`
}

function* forgetEmpty(left: readonly Row[]): Step<void> {
  if (left.length === 0) return
  const names = [...new Set(left.map(({ slot }): string => slot))]
  yield sql`
    DELETE FROM signed WHERE slot IN ${list(names)} AND NOT EXISTS (SELECT 1 FROM carried WHERE carried.slot = signed.slot)`
}

/** Every slot of a purpose, in the order of its txNonce. */
export function* slots(purpose: Purpose): Step<readonly Slot[]> {
  const carried = new Map<string, Slot['carried'][number][]>()
  for (const row of yield sql`SELECT nonce, slot, accepted_block FROM carried WHERE ${isOf(purpose)}`) {
    const acceptedBlock = row.accepted_block !== null && { acceptedBlock: row.accepted_block as number }
    const nonce = hexOf(row.nonce) as ChallengeNonce
    carried.set(row.slot, [...(carried.get(row.slot) ?? []), { nonce, ...acceptedBlock }])
  }
  const versions = new Map<string, SignedTransaction[]>()
  for (const {
    slot,
    record,
  } of yield sql`SELECT slot, record FROM signed WHERE ${isOf(purpose)} ORDER BY id`) {
    versions.set(slot, [...(versions.get(slot) ?? []), decode<SignedTransaction>(record)])
  }
  return [...versions]
    .map(([name, transactions]) => ({ name, transactions, carried: carried.get(name) ?? [] }))
    .sort((a, b) => txNonceOf(a) - txNonceOf(b))
}

const txNonceOf = ({ transactions }: Slot): number => transactions[0]?.txNonce ?? 0
