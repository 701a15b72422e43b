/** One record of the history ↔ one line of its file: the format of the journal, with tables of its own. */
import { SvcError } from '@svc-zerc20/protocol'
import { fieldsOf, type JournalFields, type JournalLine, linePattern } from '../ledger/journal/line.js'
import { lateReasons } from '../payment/records.js'
import { address, challengeNonce, oneOf, seconds, textLike, txHash } from '../records/field-kinds.js'
import { burnRecord, challengeRecord, mintRecord } from '../records/payment-records.js'
import { eventRecord, type Fields } from '../records/record.js'
import type { RecordKind } from './payment.js'
import { burnRoles, type HistoryRecord } from './record.js'

type RecordNamed<Kind extends RecordKind> = Extract<HistoryRecord, { event: Kind }>

const role = oneOf('burn of a payment', burnRoles)
const happened = { nonce: challengeNonce, at: seconds }

/** The fields of each record, in the order of its line. */
const fields: { readonly [Kind in RecordKind]: Fields<Omit<RecordNamed<Kind>, 'event'>> } = {
  challenged: { challenge: challengeRecord },
  accepted: { ...happened, burn: burnRecord },
  demoted: happened,
  moved: { ...happened, of: role, burn: burnRecord },
  finalized: { ...happened, of: role, mint: mintRecord },
  late: { ...happened, reason: oneOf('reason of a burn', lateReasons), burn: burnRecord },
  unmatched: { ...happened, txHash, reason: textLike('reason', '[a-z_]{1,64}') },
  disclosed: { ...happened, payer: address },
}

const forms = new Map(
  Object.entries(fields).map(([event, table]) => {
    const form = eventRecord<HistoryRecord>(event as RecordKind, table as never)
    return [event, { ...form, line: new RegExp(`${linePattern.head}${form.pattern}${linePattern.tail}`) }]
  }),
)

/** Throws for a record that could not be read back: it would stop every later start. */
export function toFields(record: HistoryRecord): JournalFields {
  const form = formOf(record.event)
  const fields = form.toJson(record)
  form.fromJson(fields)
  return fields
}

/**
 * Throws `SvcError('journal_corrupt')` naming the field that is not as it was written, and `SvcError('journal_newer')` for
 * a record that this version does not know.
 */
export function readRecord(line: JournalLine): HistoryRecord {
  const groups = forms.get(eventIn(line.text))?.line.exec(line.text)
  if (groups) return formOf(eventIn(line.text)).fromGroups(groups)
  const read = fieldsOf(line)
  return formOf(read.event).fromJson(read)
}

function formOf(event: string) {
  const form = forms.get(event)
  // The line's checksum was good, so that a newer version must have written it.
  if (!form) throw new SvcError('journal_newer', `the record ${event} is unknown here`)
  return form
}

const eventStart = '"event":"'

export function eventIn(text: string): string {
  const start = text.indexOf(eventStart) + eventStart.length
  return text.slice(start, text.indexOf('"', start))
}
