/**
 * Requests a minute, counted for all daemons in one table. Requests that arrive while a statement is under way travel with
 * the next one, so that many requests cost one round trip. A database that does not answer holds up nobody for long.
 */
import { createHmac } from 'node:crypto'
import { type Query, serverNow, sql } from '../sql.js'
import type { Send } from './client.js'

/** A request as all daemons have counted it for its key. */
export type Counted = {
  /** Requests of this minute until this one, with it. */
  readonly count: number
  /** Tells this minute of the key from its others. */
  readonly minute: number
  readonly ageMs: number
}

export type SharedCounts = {
  /** Counts one request for a key. Undefined when there is no answer in time: then each daemon counts for itself. */
  add(key: string): Promise<Counted | undefined>
  /** Takes one back from this minute of the key, sooner or later. */
  takeBack(key: string, minute: number): void
}

const minuteMs = 60_000
/** How long nothing is asked after a failure. */
const restMs = 1_000
/** Keys of one statement. */
const keysMax = 500

/** Callers that wait for their count, by the hash of their key. */
type Waiting = Map<string, ((counted: Counted | undefined) => void)[]>

/** `secret` hides who is counted: addresses of callers are not written to the disk. */
export function createCounts({
  send,
  secret,
  patienceMs,
}: {
  readonly send: Send
  readonly secret: Uint8Array
  /** How long a request waits for its count. */
  readonly patienceMs: number
}): SharedCounts {
  let waiting: Waiting = new Map()
  let isSending = false
  /** The statement under way is late, or the last one failed. */
  let isAway = false
  let sweptMs = Number.NEGATIVE_INFINITY

  const whoOf = (key: string) => createHmac('sha256', secret).update(key).digest('hex').slice(0, 32)

  /** Everybody who waits goes on without an answer. */
  function giveUp(sent: Waiting): void {
    isAway = true
    for (const answers of [...sent.values(), ...waiting.values()])
      for (const answer of answers) answer(undefined)
    waiting = new Map()
  }

  async function sendSome(): Promise<void> {
    // In one order everywhere: two daemons that count the same keys wait for each other, but not in a circle.
    const sent: Waiting = new Map(
      [...waiting].slice(0, keysMax).sort(([one], [other]) => (one < other ? -1 : 1)),
    )
    for (const who of sent.keys()) waiting.delete(who)
    const late = setTimeout(() => giveUp(sent), patienceMs)
    try {
      const rows = await send(adding([...sent].map(([who, { length }]) => ({ who, times: length }))))
      for (const { who, minute, age_ms: ageMs, count } of rows) {
        const answers = sent.get(who) ?? []
        answers.forEach((answer, i) => {
          answer({ count: count - answers.length + 1 + i, minute, ageMs })
        })
      }
    } catch {
      giveUp(sent)
      await new Promise((resolve) => setTimeout(resolve, restMs).unref())
    } finally {
      clearTimeout(late)
      isAway = false
    }
  }

  async function sendAll(): Promise<void> {
    isSending = true
    // Requests of the same turn travel together.
    await Promise.resolve()
    while (waiting.size > 0) await sendSome()
    isSending = false
    if (performance.now() - sweptMs < minuteMs) return
    sweptMs = performance.now()
    send(deletingOver).catch(() => undefined)
  }

  return {
    async add(key) {
      if (isAway) return undefined
      return new Promise((answer) => {
        const who = whoOf(key)
        const together = waiting.get(who) ?? []
        together.push(answer)
        waiting.set(who, together)
        if (!isSending) void sendAll()
      })
    },
    takeBack(key, minute) {
      send(sql`
        UPDATE rate SET count = count - 1 WHERE who = decode(${whoOf(key)}, 'hex') AND started_ms = ${minute}`).catch(
        () => undefined,
      )
    },
  }
}

/** Adds to the present minute of each key, or begins another one. One text for any number of keys, prepared once. */
const adding = (asked: readonly { readonly who: string; readonly times: number }[]): Query => sql`
  INSERT INTO rate (who, started_ms, count)
    SELECT decode(who, 'hex'), ${serverNow}, times
    FROM json_to_recordset(CAST(CAST(${JSON.stringify(asked)} AS TEXT) AS JSON)) AS asked (who TEXT, times BIGINT)
  ON CONFLICT (who) DO UPDATE SET
    started_ms = CASE WHEN ${isOver} THEN excluded.started_ms ELSE rate.started_ms END,
    count = CASE WHEN ${isOver} THEN excluded.count ELSE rate.count + excluded.count END
  RETURNING encode(who, 'hex') AS who, started_ms AS minute, ${serverNow} - started_ms AS age_ms, count`

/** A row that is counted right now is left: waiting for it, in another order, could be a circle. */
const deletingOver = sql`
  DELETE FROM rate WHERE who IN (
    SELECT who FROM rate WHERE started_ms < ${serverNow} - ${2 * minuteMs} FOR UPDATE SKIP LOCKED)`

const isOver = sql`rate.started_ms + ${minuteMs} <= excluded.started_ms`
