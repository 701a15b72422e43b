/**
 * The events of the ledger as lines of its journal. A start reads every line of the file, so a line in the form of this
 * version is read by one regular expression. Any other line is read as JSON, and has the same meaning.
 */
import { Payload, SvcError } from '@svc-zerc20/protocol'
import { corrupt, type Field, optional, simple, storedAs } from '../../records/field.js'
import {
  address,
  challengeNonce,
  challengeNonces,
  flag,
  height,
  identity,
  integer,
  mark,
  seconds,
  textLike,
  txHash,
  units,
} from '../../records/field-kinds.js'
import {
  burnRecord,
  challengeRecord,
  doneSweepRecord,
  finalizedRecord,
  mintRecord,
  otherLateReason,
  transactionRecord,
} from '../../records/payment-records.js'
import { eventRecord, type Fields, record } from '../../records/record.js'
import { fieldsOf, type JournalFields, type JournalLine, linePattern } from '../journal/line.js'
import {
  type Binding,
  type ClaimedPayload,
  claimedPayload,
  type KnownAccount,
  type LedgerEvent,
} from './events.js'

const knownAccount = record<KnownAccount>({ address, nonce: integer })

const bindingRecord = record<Binding>({
  chainId: integer,
  token: address,
  helper: optional(address),
  seed: optional(textLike('fingerprint', '[0-9a-f]{16}')),
  id: optional(identity),
  generation: optional(integer),
  relayer: optional(knownAccount),
  minter: optional(knownAccount),
})

/** The payload of a claim. A permit is parsed when somebody asks for it: few claims are still open at the end of a journal. */
const payload: Field<ClaimedPayload> = simple<ClaimedPayload>({
  toJson: (claimed) => Payload.toWire(claimed.read()),
  fromJson: (raw) => claimedPayload(parsePayload(raw)),
  pattern: '(\\{"challengeNonce":"[^"]*","payer":.*\\})',
  fromText: (text) => ({
    kind: 'permit',
    read: () => parsePayload(JSON.parse(text)) as Payload.PermitPayload,
  }),
})

function parsePayload(raw: unknown): Payload.Payload {
  const parsed = Payload.parse(raw)
  if (!parsed.ok) throw corrupt(parsed.message)
  return parsed.value
}

type EventNamed<Name extends LedgerEvent['event']> = Extract<LedgerEvent, { event: Name }>

const nonceAlone = { nonce: challengeNonce }
const signed = { nonces: challengeNonces, transaction: transactionRecord }

/** The fields of each event, in the order of its line. */
const fields: {
  readonly [Name in LedgerEvent['event']]: Fields<Omit<EventNamed<Name>, 'event'>>
} = {
  ledger_bound: { binding: bindingRecord },
  challenge_issued: { challenge: challengeRecord },
  payment_claimed: { nonce: challengeNonce, identity, ticketed: flag, payload },
  burn_signed: signed,
  claim_released: nonceAlone,
  payment_accepted: { nonce: challengeNonce, burn: burnRecord, at: seconds },
  payment_demoted: nonceAlone,
  burn_moved: { nonce: challengeNonce, burn: burnRecord },
  mint_signed: signed,
  payment_finalized: { nonce: challengeNonce, mint: mintRecord, at: seconds, burned: optional(units) },
  burn_late: { challenge: challengeRecord, burn: burnRecord, reason: optional(otherLateReason) },
  burn_unmatched: { nonce: challengeNonce, txHash, reason: textLike('reason', '[a-z_]{1,64}'), at: seconds },
  grant_used: nonceAlone,
  payment_recorded: {
    challenge: challengeRecord,
    identity,
    ticketed: flag,
    burn: burnRecord,
    at: seconds,
    granted: flag,
    finalized: optional(finalizedRecord),
    swept: optional(mark),
  },
  sweep_signed: { recipient: address, amount: units, ...signed },
  sweep_ended: {
    txNonce: storedAs('nonce', integer),
    at: seconds,
    txHash: optional(txHash),
    blockNumber: optional(height),
  },
  sweep_found: {
    recipient: address,
    amount: units,
    nonces: challengeNonces,
    txHash,
    blockNumber: height,
    at: seconds,
  },
  fees_swept: {
    sweeps: integer,
    payments: integer,
    amount: units,
    last: optional(doneSweepRecord),
    nonces: challengeNonces,
  },
  distribution_signed: { transaction: transactionRecord },
  distribution_ended: { txNonce: storedAs('nonce', integer) },
}

type EventForm = ReturnType<typeof eventRecord<LedgerEvent>> & { readonly line: RegExp }

const forms = new Map<string, EventForm>(
  Object.entries(fields).map(([event, table]) => {
    const form = eventRecord<LedgerEvent>(event as LedgerEvent['event'], table as never)
    return [event, { ...form, line: new RegExp(`${linePattern.head}${form.pattern}${linePattern.tail}`) }]
  }),
)

export function toFields(event: LedgerEvent): JournalFields {
  return formOf(event.event).toJson(event)
}

/**
 * Reads what `toFields` wrote. Throws `SvcError('journal_corrupt')` naming the field that is not as it was written, and
 * `SvcError('journal_newer')` for an event that this version does not know.
 */
export function fromFields(fields: JournalFields): LedgerEvent {
  return formOf(fields.event).fromJson(fields)
}

/** Throws as `fromFields` does. */
export function readEvent(line: JournalLine): LedgerEvent {
  const form = forms.get(eventIn(line.text))
  const groups = form?.line.exec(line.text)
  return form && groups ? form.fromGroups(groups) : fromFields(fieldsOf(line))
}

function formOf(event: string): EventForm {
  const form = forms.get(event)
  // The line's checksum was good, so that a newer version must have written it.
  if (!form) throw new SvcError('journal_newer', `the event ${event} is unknown here`)
  return form
}

const eventStart = '"event":"'

function eventIn(text: string): string {
  const start = text.indexOf(eventStart) + eventStart.length
  return text.slice(start, text.indexOf('"', start))
}
