import { SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf, burnOf, challengeOf, nonceOf, permitPayloadOf, units } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import type { RecordedPayment } from '../../payment/books.js'
import type { HistoryPort, JournalPlace } from '../../payment/history-port.js'
import { openLedger } from '../open.js'
import { createBehind } from './catch-up.js'

/** A history in memory whose disk can refuse. */
function createHistory() {
  const notes: RecordedPayment[] = []
  const disk = { isFull: false, place: undefined as JournalPlace | undefined }
  const refusal = () => new SvcError('journal_failed', 'full')
  const port: HistoryPort = {
    assertRoom() {
      if (disk.isFull) throw refusal()
    },
    note: (payment) => void notes.push({ ...payment }),
    async durable() {
      if (disk.isFull) throw refusal()
    },
    isDurable: () => !disk.isFull,
    completeUpTo: () => disk.place,
    async setCompleteUpTo(place) {
      disk.place = place
    },
  }
  return { notes, disk, port }
}

const open = (history: HistoryPort, journal: string) =>
  openLedger({
    journal,
    binding: { chainId: 31337, token: addressOf(7) },
    clock: stoppedClock(),
    openMax: 100,
    expiredRetentionSeconds: 3_600,
    unmatchedMax: { perChallenge: 8, total: 100 },
    onJournalFailure: () => undefined,
    history,
  })

const challenge = challengeOf(1)
const { nonce } = challenge

describe.each(['none', 'a journal'])('a ledger with %s, whose history cannot be written', (kind) => {
  const journalOf = () => (kind === 'none' ? 'none' : `${temporaryFolder()}/journal`)

  it('issues nothing, accepts for nobody and gives no grant, until the history has what happened', async () => {
    const { disk, port, notes } = createHistory()
    const { ledger, close } = await open(port, journalOf())
    await ledger.issue(challenge)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    disk.isFull = true
    await expect(ledger.issue(challengeOf(2))).rejects.toMatchObject({ code: 'journal_failed' })
    expect(await ledger.find(nonceOf(2))).toBeUndefined()
    await expect(ledger.accept(nonce, burnOf(1))).rejects.toMatchObject({ code: 'journal_failed' })
    await expect(ledger.accept(nonce, burnOf(1))).rejects.toMatchObject({ code: 'journal_failed' })
    await expect(ledger.takeGrant(nonce, 1_000)).rejects.toMatchObject({ code: 'journal_failed' })
    disk.isFull = false
    expect(await ledger.accept(nonce, burnOf(1))).toBe('already_accepted')
    const grant = await ledger.takeGrant(nonce, 1_000)
    expect(grant).toHaveProperty('accepted')
    expect(notes.map(({ accepted }) => accepted?.burn.txHash)).toEqual([undefined, burnOf(1).txHash])
    await close()
  })

  it('notes every turn of a payment, and neither claims nor grants', async () => {
    const { port, notes } = createHistory()
    const { ledger, close } = await open(port, journalOf())
    await ledger.issue(challenge)
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.accept(nonce, burnOf(1))
    await ledger.moveBurn(nonce, burnOf(2))
    await ledger.demote(nonce)
    await ledger.accept(nonce, burnOf(3))
    const grant = await ledger.takeGrant(nonce, 1_000)
    if (typeof grant !== 'string') await grant.use()
    await ledger.finalize(nonce, { value: units(1000n) }, units(1000n))
    await ledger.recordLate(challenge, { ...burnOf(4), value: units(2000n) }, 'second')
    await ledger.recordUnmatched(nonce, { txHash: burnOf(5).txHash, reason: 'burn_split' })
    expect(
      notes.map(({ accepted, demoted, finalized, late, unmatched }) => [
        accepted?.burn.txHash.slice(-1),
        demoted?.burn.txHash.slice(-1),
        finalized !== undefined,
        late !== undefined,
        unmatched?.length,
      ]),
    ).toEqual([
      [undefined, undefined, false, false, undefined],
      ['1', undefined, false, false, undefined],
      ['2', undefined, false, false, undefined],
      [undefined, '2', false, false, undefined],
      ['3', undefined, false, false, undefined],
      ['3', undefined, true, false, undefined],
      ['3', undefined, true, true, undefined],
      ['3', undefined, true, true, 1],
    ])
    await close()
  })
})

it('a journal is not written anew while its history lacks something', async () => {
  const { disk, port } = createHistory()
  const { ledger, compact, close } = await open(port, `${temporaryFolder()}/journal`)
  await ledger.issue(challenge)
  for (let i = 0; i < 5; i++) {
    await ledger.claim(nonce, permitPayloadOf(challenge))
    await ledger.release(nonce)
  }
  disk.isFull = true
  await expect(compact(0)).rejects.toMatchObject({ code: 'journal_failed' })
  disk.isFull = false
  expect(await compact(0)).toHaveProperty('recordsAfter')
  expect(disk.place).toMatchObject({ generation: 1, records: 2 })
  await close()
})

it('tells its place in the journal at the end, unless the history lacks something', async () => {
  const { disk, port } = createHistory()
  const journal = `${temporaryFolder()}/journal`
  const first = await open(port, journal)
  await first.ledger.issue(challenge)
  await first.close()
  expect(disk.place).toMatchObject({ generation: 0, records: 2 })
  const second = await open(port, journal)
  disk.isFull = true
  await second.ledger.claim(nonce, permitPayloadOf(challenge))
  await second.close()
  expect(disk.place).toMatchObject({ records: 2 })
})

describe('the place of a history in a journal', () => {
  const place = { id: 'a', generation: 3, records: 10 }
  const all = (isOlder: boolean) => ({ kind: 'all', isOlder })
  const some = (...nonces: string[]) => ({ kind: 'some', nonces })
  it.each([
    ['without a place', undefined, place, all(false)],
    ['at the same place', place, place, some()],
    ['behind', place, { ...place, records: 12 }, some(nonceOf(11), nonceOf(12))],
    ['in a journal that was written anew', place, { ...place, generation: 4, records: 2 }, all(false)],
    ['ahead of it', place, { ...place, records: 9 }, all(true)],
    ['ahead of its last compaction', place, { ...place, generation: 2, records: 99 }, all(true)],
    ['in another journal', place, { ...place, id: 'b' }, all(true)],
  ] as const)('%s', (_, known, journal, outcome) => {
    const behind = createBehind(known)
    for (let seq = 1; seq <= journal.records; seq++) {
      behind.saw({ event: 'challenge_issued', challenge: challengeOf(seq) }, seq)
    }
    expect(behind.judge(journal)).toEqual(outcome)
  })

  it('is given up beyond 10 000 payments: then all are compared while the daemon works', () => {
    const behind = createBehind({ ...place, records: 0 })
    for (let seq = 1; seq <= 10_001; seq++) {
      behind.saw({ event: 'payment_demoted', nonce: nonceOf(seq) }, seq)
    }
    expect(behind.judge({ ...place, records: 10_001 })).toEqual(all(false))
  })
})
