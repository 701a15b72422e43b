/**
 * Steps of proofs that daemons make for each other. The holder of a job is alive, as the table of daemons has it; the job of a
 * dead one is free. Its term grows with each holder, so a proof that comes late changes nothing.
 */
import { limits } from '../../config/limits.js'
import { first, list, type Query, type Step, serverNow, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

const isRecent = sql`alive_ms > ${serverNow} - ${limits.leaseMs}`

const isAlive = (holder: Query): Query =>
  sql`EXISTS (SELECT 1 FROM daemon WHERE daemon.holder = ${holder} AND ${isRecent})`

const isFree = sql`proof IS NULL AND NOT ${isAlive(sql`proof_job.holder`)}`

/** False when no other daemon lives, which nobody should wait for. */
function* offerProof(_: StepContext, id: string, record: string, by: string): Step<boolean> {
  const offered = yield* first(sql`
    INSERT INTO proof_job (id, record, term) SELECT ${id}, ${record}, 0
    WHERE EXISTS (SELECT 1 FROM daemon WHERE holder <> ${by} AND ${isRecent})
    RETURNING id`)
  return offered !== undefined
}

/** A daemon that is not known to live takes none: it would be free again at once. */
function* takeProof(
  _: StepContext,
  holder: string,
): Step<{ readonly id: string; readonly term: number; readonly record: string } | undefined> {
  const row = yield* first(sql`
    UPDATE proof_job SET holder = ${holder}, term = term + 1
    WHERE id = (SELECT id FROM proof_job WHERE ${isFree} ORDER BY id LIMIT 1) AND ${isAlive(sql`${holder}`)}
    RETURNING id, term, record`)
  return row && { id: row.id, term: row.term, record: row.record }
}

function* giveProof(_: StepContext, id: string, term: number, proof: string): Step<void> {
  yield sql`UPDATE proof_job SET proof = ${proof} WHERE id = ${id} AND term = ${term}`
}

function* giveUpProof(_: StepContext, id: string, term: number): Step<void> {
  yield sql`DELETE FROM proof_job WHERE id = ${id} AND term = ${term} AND proof IS NULL`
}

/** Ends all offers but these, those of an earlier holder of the work among them. */
function* keepProofs(_: StepContext, ids: readonly string[]): Step<void> {
  yield sql`DELETE FROM proof_job WHERE id NOT IN ${list(['', ...ids])}`
}

export const proofSteps = { offerProof, takeProof, giveProof, giveUpProof, keepProofs }

export function* proofOffer(
  id: string,
): Step<{ readonly isFree: boolean; readonly proof?: string } | undefined> {
  const row = yield* first(sql`SELECT proof, ${isFree} AS is_free FROM proof_job WHERE id = ${id}`)
  return row && { isFree: row.is_free, ...(row.proof !== null && { proof: row.proof }) }
}

export function* hasFreeProof(): Step<boolean> {
  return (yield* first(sql`SELECT id FROM proof_job WHERE ${isFree} LIMIT 1`)) !== undefined
}
