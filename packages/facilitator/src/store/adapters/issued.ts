/** Issued addresses and the transfers to them, as the follower of the chain asks for them. */
import type { Address } from '@svc-zerc20/protocol'
import type { FollowedBlock, IssuedStore } from '../../chain/transfers/issued-store.js'
import { totalOf } from '../../payment/found/judge-transfers.js'
import type { Payment } from '../../payment/records.js'
import { first, hexOf, key, list, type Step, sql } from '../sql.js'
import { type Due, transfersOf, transfersTo } from '../steps/transfer-steps.js'
import type { Store } from '../store.js'
import { decode } from '../stored.js'

function* find(addresses: readonly Address[]): Step<readonly (Payment | undefined)[]> {
  const rows = yield sql`SELECT record FROM payment WHERE pay_to IN ${list(addresses.map(key))}`
  const payments = rows.map(({ record }) => decode<Payment>(record))
  const byAddress = new Map(payments.map((payment) => [payment.challenge.payTo, payment]))
  return addresses.map((address) => byAddress.get(address))
}

/** The oldest address has about the lowest block: blocks are taken from a good while before the head. */
function* firstBlock(): Step<bigint | undefined> {
  const row = yield* first(sql`SELECT record FROM payment ORDER BY id LIMIT 1`)
  return row && decode<Payment>(row.record).challenge.issuedAtBlock
}

function* followed(): Step<FollowedBlock | undefined> {
  const row = yield* first(sql`SELECT record FROM followed`)
  return row && decode<FollowedBlock>(row.record)
}

/** The next payments with transfers to their addresses. */
function* keptBehind(payTo: Uint8Array, limit: number): Step<readonly Payment[]> {
  const rows = yield sql`
    SELECT record FROM payment WHERE pay_to IN
      (SELECT DISTINCT pay_to FROM transfer WHERE pay_to > ${payTo} ORDER BY pay_to LIMIT ${limit})
    ORDER BY pay_to`
  return rows.map(({ record }) => decode<Payment>(record))
}

function* due(now: number, countMax: number): Step<readonly Due[]> {
  const rows = yield sql`
    SELECT pay_to, due_at FROM due_address WHERE due_at <= ${now} ORDER BY due_at LIMIT ${countMax}`
  return rows.map((row) => ({ payTo: hexOf(row.pay_to) as Address, dueAt: row.due_at }))
}

/** Challenges that nobody paid and that were issued before this second, oldest first. */
function* unpaidBefore(
  issuedBefore: number,
  countMax: number,
): Step<readonly { id: number; payTo: Address; isPaid: boolean }[]> {
  const rows = yield sql`
    SELECT id, pay_to, CASE WHEN EXISTS (SELECT 1 FROM transfer WHERE transfer.pay_to = payment.pay_to) THEN 1 ELSE 0 END AS is_paid
    FROM payment WHERE stage = 'unclaimed' AND issued_at < ${issuedBefore}
    ORDER BY issued_at, nonce LIMIT ${countMax}`
  return rows.map((row) => ({
    id: row.id,
    payTo: hexOf(row.pay_to) as Address,
    isPaid: row.is_paid === 1,
  }))
}

/** Addresses that are read in one go. */
const addressesAtOnce = 256

export function createIssuedStore({ ask, change }: Pick<Store, 'ask' | 'change'>): IssuedStore {
  return {
    find: (addresses) => ask(find(addresses)),
    firstBlock: () => ask(firstBlock()),
    async forget(issuedBefore, countMax, dustBelow) {
      const gone: number[] = []
      for (const { id, payTo, isPaid } of await ask(unpaidBefore(issuedBefore, countMax))) {
        const left = isPaid ? totalOf(await ask(transfersTo(payTo))) : 0n
        if (left === 0n || left < dustBelow) gone.push(id)
      }
      if (gone.length > 0) await change('forget', gone)
      return gone.length
    },
    followed: () => ask(followed()),
    setFollowed: (block) => change('setFollowed', block),
    putTransfer: (payTo, transfer, dueAt) => change('putTransfer', payTo, transfer, dueAt),
    transfersTo: (payTo) => ask(transfersTo(payTo)),
    found: (epoch) => ask(transfersOf(epoch)),
    async mark(leaves) {
      for (const { challenge, burn } of leaves) await change('countTransfer', challenge.payTo, burn.leafIndex)
    },
    async followedLeaves() {
      const block = await ask(followed())
      // Nothing was searched yet.
      return block ? block.token?.size : 0n
    },
    async *kept() {
      let last: Uint8Array = new Uint8Array(0)
      for (;;) {
        const payments = await ask(keptBehind(last, addressesAtOnce))
        for (const payment of payments) {
          yield { payment, transfers: await ask(transfersTo(payment.challenge.payTo)) }
        }
        const end = payments.at(-1)
        if (!end) return
        last = key(end.challenge.payTo)
      }
    },
    due: (now, countMax) => ask(due(now, countMax)),
    accountedFor: (at, next) => change('accountedFor', at, next),
    dropTransfers: (payTo) => change('dropTransfers', payTo),
    dropTransfersAfter: (block) => change('dropTransfersAfter', block),
  }
}
