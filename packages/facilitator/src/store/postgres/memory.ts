/**
 * The rows that a daemon remembers of a ledger to which others write as well. They are good while nobody else has written: the
 * next step says in its transaction which ledger it remembers, and reads again when that is not the one it finds.
 */
import {
  createRows,
  doubtSetting,
  isUnderWay,
  type Keys,
  pauseSetting,
  type ReadRows,
  type Rows,
  settingIn,
} from '../rows/rows.js'
import { type Query, type Row, sql } from '../sql.js'

/** How long nobody else must have written before we count on what we remember: a wrong guess costs a round trip. */
const calmMs = 1_000

/** A ledger by what changes with the rows of its payments. */
export type LedgerPlace = { readonly applied: number; readonly forgotten: number }

export function createMemory() {
  const rows: Rows = createRows()
  /** The ledger that the rows are of. Undefined while they may be of none. */
  let place: LedgerPlace | undefined
  /** When somebody else was seen to have written. */
  let foreignAtMs = Number.NEGATIVE_INFINITY
  let isChanging = false

  function forget(): void {
    rows.forgetAll()
    place = undefined
    isChanging = false
  }
  function forgetOfOthers(): void {
    forget()
    foreignAtMs = performance.now()
  }

  return {
    rows,
    forget,
    forgetOfOthers,

    /** The ledger that is remembered, when a step with these keys would have to read nothing of it. */
    begin(keys: Keys, newest: number): LedgerPlace | undefined {
      const isCalm = performance.now() - foreignAtMs > calmMs
      if (!isCalm || place?.applied !== newest || !rows.has(keys)) return undefined
      isChanging = true
      return place
    },

    /** Takes in what a transaction read at its beginning. */
    load(keys: Keys, ledger: Row, asked: readonly (readonly Row[])[]): void {
      const isSame = place?.applied === ledger.applied && place?.forgotten === ledger.forgotten
      if (!isSame) (place ? forgetOfOthers : forget)()
      isChanging = true
      rows.preload(rowsRead(keys, ledger, asked))
    },

    /** A transaction ended, and the rows are of this ledger. */
    end(at: LedgerPlace): void {
      place = at
      isChanging = false
    },

    /** Takes in rows that a question read as of the event with this number. */
    add(applied: number, read: Omit<ReadRows, 'leaves' | 'ledger'>): void {
      if (!isChanging && place?.applied === applied) rows.preload(read)
    },
  }
}

/** A list in one value, so that lists of any length have one text, for which the server keeps one plan. */
const anyOf = (keys: readonly string[]): Query =>
  sql`ANY(CAST(${`{${keys.map((hex) => `"\\\\x${hex.slice(2)}"`).join(',')}}`} AS BYTEA[]))`

/** Asks for all rows of these keys. */
export const readingRows = ({ nonces, payers }: Keys): readonly Query[] => {
  const payments = sql`SELECT id, record FROM payment WHERE nonce = ${anyOf(nonces)}`
  const leaves = sql`SELECT nonce, payment, place, record FROM leaf WHERE nonce = ${anyOf(nonces)} ORDER BY place`
  const claims = sql`
    SELECT claim_payer, record FROM payment WHERE claim_payer = ${anyOf(payers)} AND ${isUnderWay} ORDER BY id`
  return [...(nonces.length > 0 ? [payments, leaves] : []), ...(payers.length > 0 ? [claims] : [])]
}

const rowsRead = (
  keys: Keys,
  { fees, doubt, pause }: Row,
  [payments = [], leaves = [], claims = []]: readonly (readonly Row[])[],
): ReadRows => ({
  ...keys,
  payments,
  leaves,
  claims,
  ledger: {
    fees: BigInt(fees),
    settings: new Map(
      Object.entries({ [doubtSetting]: doubt, [pauseSetting]: pause }).map(([name, record]) => [
        name,
        record === null ? undefined : settingIn({ record }),
      ]),
    ),
  },
})
