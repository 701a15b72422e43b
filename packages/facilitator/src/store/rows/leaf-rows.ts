/** Leaves as rows. They are written whole for each payment: a payment has one, seldom two. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../../payment/records.js'
import { awaitedIn, dueFeeIn, type Leaf, type Leaves } from '../leaves.js'
import { key, optionalKey, type Row, type Step, sql } from '../sql.js'
import { decode, encode } from '../stored.js'
import { unitsColumn } from '../units.js'

/** The first places of a payment's leaves; those that were replaced stand behind. */
const places = { accepted: 0, late: 1, replaced: 2 } as const

export function leavesIn(rows: readonly Row[]): Leaves {
  const leafAt = (place: number): Leaf | undefined => {
    const row = rows.find((each) => each.place === place)
    return row && decode<Leaf>(row.record)
  }
  const [accepted, late] = [leafAt(places.accepted), leafAt(places.late)]
  const replaced = rows.filter(({ place }) => place >= places.replaced)
  return {
    ...(accepted && { accepted }),
    ...(late && { late }),
    replaced: replaced.map(({ record }) => decode<Leaf>(record)),
  }
}

/** The leaf of a row as finalization takes it. */
export function awaitingIn({ record }: Row): AwaitingMint {
  const { challenge, burn, at, reason } = decode<Leaf>(record)
  return { challenge, burn, ...(reason === undefined ? { acceptedAt: at } : { lateAt: at }) }
}

/** The leaves of a payment, and its number when it has any. */
export type LeafRows = { readonly payment?: number; readonly leaves: Leaves }

export function* loadLeaves(nonce: ChallengeNonce): Step<LeafRows> {
  return leafRowsIn(
    yield sql`SELECT payment, place, record FROM leaf WHERE nonce = ${key(nonce)} ORDER BY place`,
  )
}

/** The leaves in the rows of one payment. */
export const leafRowsIn = (rows: readonly Row[]): LeafRows => ({
  ...(rows[0] && { payment: rows[0].payment }),
  leaves: leavesIn(rows),
})

/** Writes what changed. */
export function* saveLeaves(payment: number, before: Leaves, after: Leaves): Step<void> {
  if (before.accepted && !after.accepted) {
    yield sql`DELETE FROM leaf WHERE payment = ${payment} AND place = ${places.accepted}`
  }
  const placed: [number, Leaf | undefined][] = [
    [places.accepted, after.accepted],
    [places.late, after.late],
    ...after.replaced.map((leaf, i): [number, Leaf] => [places.replaced + i, leaf]),
  ]
  for (const [place, leaf] of placed) if (leaf) yield* saveLeaf(payment, place, leaf, after)
}

function* saveLeaf(payment: number, place: number, leaf: Leaf, leaves: Leaves): Step<void> {
  const { challenge, finalized } = leaf
  const { accepted, late } = leaves
  const isAccepted = leaf === accepted
  const payer = (accepted ?? leaf).burn.from
  // The sender of a second transfer may be somebody else, whose money is no payment of this payer.
  const isForeign = !isAccepted && late?.burn.from !== payer
  const due = isAccepted ? dueFeeIn(leaves) : undefined
  const units = (amount: bigint | undefined) => (amount === undefined ? null : unitsColumn(amount))
  yield sql`
    INSERT INTO leaf (payment, place, nonce, burn_tx, burned_at, awaits_mint, treasury, payer, bought, part, fee, minted, minted_at, minted_block, fee_due_to, record)
    VALUES (${payment}, ${place}, ${key(challenge.nonce)}, ${key(leaf.burn.txHash)}, ${isAccepted ? leaf.at : (late ?? leaf).at},
      ${leaf === awaitedIn(leaves) ? 1 : 0}, ${key(challenge.treasury)}, ${isForeign ? null : key(payer)},
      ${isAccepted ? 1 : 0}, ${units(partOf(leaf, leaves))}, ${units(isAccepted ? challenge.fee?.amount : undefined)},
      ${units(finalized?.mint.value)}, ${finalized?.at ?? null},
      ${Number(finalized?.mint.blockNumber ?? leaf.burn.blockNumber)}, ${optionalKey(due?.recipient)}, ${encode(leaf)})
    ON CONFLICT (payment, place) DO UPDATE SET burn_tx = excluded.burn_tx, burned_at = excluded.burned_at, awaits_mint = excluded.awaits_mint,
      payer = excluded.payer, part = excluded.part, fee = excluded.fee, minted = excluded.minted,
      minted_at = excluded.minted_at, minted_block = excluded.minted_block, fee_due_to = excluded.fee_due_to, record = excluded.record`
}

/** The part of a leaf in the sum of burns: beside an accepted burn only what a larger one has more. */
function partOf(leaf: Leaf, { accepted, late }: Leaves): bigint | undefined {
  if (leaf === accepted) return leaf.burn.value
  if (leaf !== late) return undefined
  const beside = accepted?.burn.value ?? 0n
  return leaf.burn.value > beside ? leaf.burn.value - beside : 0n
}
