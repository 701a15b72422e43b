/** Reads a journal by its documented format, without any code of the daemon. */
import { readFileSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export type JournalRecord = { readonly event: string; readonly [field: string]: unknown }

const tail = /,"crc":"([0-9a-f]{8})"\}$/

const readJournal = (path: string) => recordsIn(readFileSync(path, 'utf8'), 1)

/** All complete records, in order, numbered from `firstSeq` on. Skips a torn last line and throws for any other damage. */
export function recordsIn(text: string, firstSeq: number): JournalRecord[] {
  const lines = text.split('\n')
  // After the last newline there is nothing, or an unfinished line.
  return lines.slice(0, -1).map((line, i) => {
    const found = tail.exec(line)
    const covered = line.slice(0, found?.index)
    if (!found || crc32(covered).toString(16).padStart(8, '0') !== found[1]) {
      throw new Error(`line ${i + 1} of ${lines.length - 1} is damaged: ${line}`)
    }
    const { v, seq, crc, ...record } = JSON.parse(line)
    if (v !== 1 || seq !== firstSeq + i) throw new Error(`line ${i + 1} has version ${v} and sequence ${seq}`)
    return record
  })
}

/**
 * Reads a journal again only when its file has changed, so that a waiting test takes no time from the daemon. A missing
 * file has no records.
 */
export function createJournalReader(path: string): () => readonly JournalRecord[] {
  let read: { readonly state: string; readonly records: readonly JournalRecord[] } | undefined
  return () => {
    const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (ino === undefined) return []
    const state = `${ino} ${size} ${mtimeMs}`
    if (read?.state !== state) read = { state, records: readJournal(path) }
    return read.records
  }
}

/** The journal's facts about one payment. A reorg takes an acceptance back. */
export type Recorded = { accepted: number; granted: boolean; late: boolean; txHash?: string }

export function paymentsIn(records: readonly JournalRecord[]): Map<string, Recorded> {
  const payments = new Map<string, Recorded>()
  const of = (nonce: unknown) => {
    const known = payments.get(String(nonce)) ?? { accepted: 0, granted: false, late: false }
    payments.set(String(nonce), known)
    return known
  }
  for (const record of records) {
    const { challengeNonce, challenge, burn } = record as {
      challengeNonce?: string
      challenge?: { nonce: string }
      burn?: { txHash: string }
    } & JournalRecord
    const payment = of(challengeNonce ?? challenge?.nonce)
    if (record.event === 'payment_accepted') {
      payment.accepted += 1
      if (burn) payment.txHash = burn.txHash
    }
    if (record.event === 'payment_demoted') payment.accepted -= 1
    if (record.event === 'grant_used') payment.granted = true
    if (record.event === 'burn_late') payment.late = true
  }
  return payments
}
