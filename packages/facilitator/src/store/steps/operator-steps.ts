/** Steps that are no turn of a payment's own: the ledger's binding, switches, disclosures, and the stock of addresses. */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { ReadyAddress } from '../../payment/ports.js'
import { payerOf } from '../../payment/records.js'
import type { AccountName, Binding, KnownAccount } from '../events.js'
import { readSetting } from '../rows/rows.js'
import { first, hexOf, key, type Step, sql } from '../sql.js'
import { decode, encode } from '../stored.js'
import type { StepContext } from './step-context.js'

function* bind(context: StepContext, binding: Binding): Step<void> {
  yield* context.record({ event: 'ledger_bound', binding })
}

/** An event without news. */
function* bindAgain(context: StepContext): Step<void> {
  yield* bind(context, (yield* readBinding()) as Binding)
}

function* bindAccount(context: StepContext, name: AccountName, account: KnownAccount): Step<void> {
  yield* context.record({ event: 'account_bound', name, account })
  const doubted = yield* readDoubted()
  if (doubted.includes(name))
    yield* setDoubted(
      context,
      doubted.filter((other) => other !== name),
    )
}

/** Accounts that may have sent more than the ledger knows, until they are bound again. */
const doubtedSetting = 'doubted_accounts'

const setDoubted = (context: StepContext, names: readonly AccountName[]) =>
  changeSetting(context, doubtedSetting, names)

function* readDoubted(): Step<readonly AccountName[]> {
  return (yield* readSetting<readonly AccountName[]>(doubtedSetting)) ?? []
}

export function* doubtAccounts(context: StepContext): Step<void> {
  const accounts = yield sql`SELECT name FROM account ORDER BY name`
  if (accounts.length > 0)
    yield* setDoubted(
      context,
      accounts.map(({ name }) => name),
    )
}

function* changeSetting(context: StepContext, name: string, setting: unknown): Step<void> {
  yield* context.record({ event: 'setting_changed', name, setting })
  // Settings are remembered with the rows.
  context.rows.forgetAll()
}

/** Nothing for a payment that is unknown, disclosed, or of another payer. */
function* disclose(context: StepContext, nonce: ChallengeNonce, payer: Address): Step<void> {
  const { payment } = (yield* context.rows.payment(nonce)) ?? {}
  if (!payment || payment.disclosedAt !== undefined || payerOf(payment) !== payer) return
  yield* context.record({ event: 'payment_disclosed', challengeNonce: nonce, payer })
}

/** A mined address that nobody has seen. It leaves the stock in the same moment in which its challenge is issued. */
function* addReady(_: StepContext, address: ReadyAddress): Step<void> {
  yield sql`
    INSERT INTO ready (nonce, record) VALUES (${key(address.challengeNonce)}, ${encode(address)}) ON CONFLICT DO NOTHING`
}

function* dropReady(_: StepContext, nonces: readonly string[]): Step<void> {
  for (const nonce of nonces) yield sql`DELETE FROM ready WHERE nonce = ${key(nonce)}`
}

/** The end of the file of the history. */
export type HistoryEnd = {
  readonly lines: number
  readonly bytes: number
  /** The number of the last event that is in the file, or needs no line. */
  readonly last: number
  /** The number of the event that the last line is of; 0 when it is of none. */
  readonly line: number
  /** The checksum of the last line. */
  readonly crc: string
}

function* historyWritten(_: StepContext, file: string, end: HistoryEnd): Step<void> {
  yield sql`
    INSERT INTO history_file (file, record) VALUES (${file}, ${encode(end)})
    ON CONFLICT (file) DO UPDATE SET record = excluded.record`
}

export const operatorSteps = {
  bind,
  bindAgain,
  bindAccount,
  changeSetting,
  disclose,
  addReady,
  dropReady,
  historyWritten,
}

export function* readBinding(): Step<Partial<Binding>> {
  const row = yield* first(sql`SELECT record FROM ledger`)
  return decode<Partial<Binding>>(row?.record)
}

/** `isDoubted`: an older copy of the ledger was accepted since the account was bound. */
export type RememberedAccount = KnownAccount & { readonly isDoubted: boolean }

export function* readAccount(name: AccountName): Step<RememberedAccount | undefined> {
  const row = yield* first(sql`SELECT address, tx_nonce FROM account WHERE name = ${name}`)
  if (!row) return undefined
  const isDoubted = (yield* readDoubted()).includes(name)
  return { address: hexOf(row.address) as Address, txNonce: row.tx_nonce, isDoubted }
}

export function* readHistoryEnd(file: string): Step<HistoryEnd | undefined> {
  const row = yield* first(sql`SELECT record FROM history_file WHERE file = ${file}`)
  return row && decode<HistoryEnd>(row.record)
}

/** Oldest first. */
export function* readyAddresses(): Step<readonly ReadyAddress[]> {
  return (yield sql`SELECT record FROM ready ORDER BY id`).map(({ record }) => decode<ReadyAddress>(record))
}
