/** Tells an event from another one with its number. We compute it as the server does. */
import { createHash } from 'node:crypto'
import { type Query, sql } from '../sql.js'

export const fingerprint = {
  /** Of an event as the server keeps it. */
  of: (record: string) => createHash('md5').update(record).digest('hex'),
  /** Of the event with this number, by the server. Null when the event is forgotten. */
  atSeq: (seq: Query) => sql`(SELECT md5(record) FROM event WHERE seq = ${seq})`,
}
