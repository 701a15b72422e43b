/** A ledger with a journal and a history in one folder, which a test can copy at any moment: the copy is what a kill leaves. */
import { cpSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { expect } from 'vitest'
import { stoppedClock } from '../../../test/support/clocks.js'
import { listSegments } from '../src/history/file/segments.js'
import { openHistory } from '../src/history/open.js'
import type { HistoryPayment } from '../src/history/payment.js'
import { fold, type HistoryRecord, nonceIn } from '../src/history/record.js'
import { readRecord } from '../src/history/record-line.js'
import { decodeLine } from '../src/ledger/journal/line.js'
import { type OpenLedgerDeps, openLedger } from '../src/ledger/open.js'
import { limits } from '../src/limits.js'
import type { RecordedPayment } from '../src/payment/books.js'
import type { LogEvent } from '../src/telemetry/events.js'
import { addressOf, burnOf, challengeOf, hashOf, permitPayloadOf, units } from './challenges.js'

export const journalIn = (folder: string) => join(folder, 'journal.jsonl')
export const historyIn = (folder: string) => join(folder, 'history.jsonl')

const binding = { chainId: 31337, token: addressOf(0xa1) }

const usual = {
  openMax: 1_000,
  expiredRetentionSeconds: 3_600,
  unmatchedMax: { perChallenge: 8, total: 100 },
}

export type HistoryWorld = Awaited<ReturnType<typeof openWorld>>

export async function openWorld(
  folder: string,
  options: {
    attached?: boolean
    acceptJournal?: boolean
    clock?: ReturnType<typeof stoppedClock>
    settings?: Pick<OpenLedgerDeps, 'openMax' | 'expiredRetentionSeconds' | 'unmatchedMax'>
  } = {},
) {
  const { attached = true, acceptJournal = false, clock = stoppedClock(), settings = usual } = options
  const events: LogEvent[] = []
  const history = attached
    ? await openHistory({
        path: historyIn(folder),
        // A few records fill a file.
        fileBytesMax: 1_500,
        binding,
        clock: { ...clock, sleep: async () => new Promise(setImmediate) },
        log: (event) => events.push(event),
        limits,
      })
    : undefined
  let caughtUp: number | undefined
  const opened = await openLedger({
    journal: journalIn(folder),
    binding,
    clock,
    ...settings,
    onJournalFailure: (err) => {
      throw err
    },
    acceptJournal,
    ...(history && { history: history.port }),
    onHistoryCaughtUp: (payments) => {
      caughtUp = payments
    },
  })
  return {
    ...opened,
    history,
    clock,
    events,
    caughtUp: () => caughtUp,
    async close() {
      await opened.close()
      await history?.close()
    },
  }
}

/** A payment is issued, claimed and accepted. */
export async function payIn({ ledger }: HistoryWorld, seed: number): Promise<ChallengeNonce> {
  const challenge = challengeOf(seed)
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  await ledger.accept(challenge.nonce, burnOf(seed))
  return challenge.nonce
}

export const mintOf = (seed: number) => ({
  txHash: hashOf(900 + seed),
  blockNumber: 9n,
  value: units(1000n),
})

/**
 * A copy of the folder without the locks of the process that uses it, and without the mark that it is about to put in the
 * place of the last one: that file may be gone before it is copied.
 */
export function copyOf(folder: string, to: string): void {
  cpSync(folder, to, {
    recursive: true,
    filter: (path) => !/\.(lock|mark\.new)$/.test(path) && basename(path) !== 'LOCK',
  })
}

export type ReadHistory = {
  readonly lines: number
  readonly records: readonly HistoryRecord[]
  readonly payments: ReadonlyMap<ChallengeNonce, HistoryPayment>
}

/** The records in the files, whose lines are numbered without a gap. A torn last line is passed over. */
export async function readHistory(folder: string): Promise<ReadHistory> {
  const path = historyIn(folder)
  const files = [...(await listSegments(path)).map((segment) => segment.path), path]
  const records: HistoryRecord[] = []
  const payments = new Map<ChallengeNonce, HistoryPayment>()
  let lines = 0
  for (const file of files) {
    for (const text of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
      const line = decodeLine(Buffer.from(text))
      if (!line.ok) throw new Error(`${file}: ${line.message}`)
      lines += 1
      expect(line.value.seq).toBe(lines)
      if (text.includes('"event":"history_bound"')) continue
      const record = readRecord(line.value)
      records.push(record)
      payments.set(nonceIn(record), fold(payments.get(nonceIn(record)), record, lines))
    }
  }
  return { lines, records, payments }
}

/** What the ledger and the history both know of a payment. */
export const ofLedger = (payment: RecordedPayment | undefined) => ({
  accepted: payment?.accepted,
  late: payment?.late,
  finalized: payment?.finalized,
  lateMinted: payment?.lateMinted,
  unmatched: payment?.unmatched ?? [],
})

export const ofHistory = (payment: HistoryPayment | undefined) => ({
  accepted: payment?.accepted,
  late: payment?.late?.burn,
  finalized: payment?.finalized,
  lateMinted: payment?.lateMinted,
  unmatched: payment?.unmatched ?? [],
})

export const kindsOf = (history: ReadHistory, nonce: ChallengeNonce): readonly string[] =>
  history.records.filter((record) => nonceIn(record) === nonce).map(({ event }) => event)
