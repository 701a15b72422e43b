import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { addressOf, burnOf, challengeOf, nonceOf, seconds } from '../../test/challenges.js'
import { limits } from '../limits.js'
import type { RecordedPayment } from '../payment/books.js'
import type { HistoryPayment } from './payment.js'
import type { HistoryRecord } from './record.js'
import { createHistoryWriter, type HistoryWriterDeps, type WrittenIndex } from './writer.js'

const issued = (seed: number): RecordedPayment => ({ challenge: challengeOf(seed), granted: false })
const accepted = (seed: number): RecordedPayment => ({
  ...issued(seed),
  accepted: { burn: burnOf(seed), at: seconds(7) },
})

const { from } = burnOf(1)
const full = new SvcError('journal_failed', 'the index is full')

/** A writer on a disk and an index in memory, each of which can refuse. */
function createWorld(changes: Partial<HistoryWriterDeps['limits']> = {}) {
  const batches: HistoryRecord[][] = []
  const payments = new Map<ChallengeNonce, HistoryPayment>()
  const failures: unknown[] = []
  const clock = handClock()
  const world = {
    isFileFull: false,
    refusal: undefined as SvcError | undefined,
    isIndexDamaged: false,
    fills: 0,
    addedSeq: 0,
  }
  const index: WrittenIndex = {
    needsFilling: () => world.isIndexDamaged,
    async payments() {
      if (world.isIndexDamaged) throw new Error('the index is damaged')
      // A copy: what was read does not change with what is written.
      return new Map(payments)
    },
    add(changes, seq) {
      for (const { before, after } of changes) {
        expect(payments.get(after.challenge.nonce)).toEqual(before)
        payments.set(after.challenge.nonce, after)
      }
      world.addedSeq = seq
    },
    async room() {
      if (world.refusal) throw world.refusal
    },
    failure: () => world.refusal,
  }
  const writer = createHistoryWriter({
    files: {
      async append(records) {
        if (world.isFileFull) throw new Error('the disk is full')
        const first = batches.flat().length + 1
        batches.push([...records])
        return first
      },
    },
    index,
    async fillIndex() {
      world.fills += 1
      await new Promise(setImmediate)
      if (world.refusal) throw world.refusal
      world.isIndexDamaged = false
    },
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms, signal as AbortSignal).catch(() => undefined) },
    onFailure: (err) => failures.push(err),
    limits: { ...limits, ...changes },
  })
  const kinds = () => batches.map((batch) => batch.map(({ event }) => event))
  const nextSleep = async () => {
    while (clock.sleeps.length === 0) await new Promise(setImmediate)
    return clock.sleeps.shift() as (typeof clock.sleeps)[number]
  }
  return { world, writer, kinds, payments, failures, nextSleep }
}

describe('the writer of the history', () => {
  it('writes what was noted in one go as one batch, and what is known not again', async () => {
    const { writer, kinds, payments, world } = createWorld()
    writer.note(issued(1))
    writer.note(issued(2))
    writer.note(accepted(1))
    expect(writer.isDurable()).toBe(false)
    await writer.durable()
    expect(kinds()).toEqual([['challenged', 'challenged', 'accepted']])
    expect(payments.get(nonceOf(1))?.turns.map(({ seq }) => seq)).toEqual([1, 3])
    expect(world.addedSeq).toBe(3)
    writer.note(accepted(1))
    await writer.durable()
    expect(kinds()).toHaveLength(1)
    expect(writer.stats()).toEqual({ records: 3, failed: false })
  })

  it('records a payment as it was noted, whatever became of it since', async () => {
    const { writer, kinds } = createWorld()
    const payment: { -readonly [Key in keyof RecordedPayment]: RecordedPayment[Key] } = accepted(1)
    writer.note(payment)
    payment.demoted = payment.accepted as NonNullable<typeof payment.accepted>
    delete payment.accepted
    writer.note(payment)
    await writer.durable()
    expect(kinds()).toEqual([['challenged', 'accepted', 'demoted']])
  })

  it('splits a long queue into batches', async () => {
    const { writer, kinds } = createWorld({ historyBatchMax: 2 })
    for (const seed of [1, 2, 3]) writer.note(issued(seed))
    await writer.durable()
    expect(kinds()).toEqual([['challenged', 'challenged'], ['challenged']])
  })

  it('tells everybody that the disk refuses, lets nothing begin, and tries again with growing pauses', async () => {
    const { world, writer, kinds, failures, nextSleep } = createWorld()
    world.isFileFull = true
    writer.note(issued(1))
    await expect(writer.durable()).rejects.toMatchObject({ code: 'journal_failed' })
    expect(() => writer.assertRoom()).toThrow(/cannot be written/)
    writer.note(accepted(1))
    await expect(writer.durable()).rejects.toMatchObject({ code: 'journal_failed' })
    await expect(writer.disclose(nonceOf(1), from)).rejects.toMatchObject({ code: 'journal_failed' })
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      const sleep = await nextSleep()
      pauses.push(sleep.ms)
      sleep.end()
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000])
    expect(writer.stats().failed).toBe(true)
    world.isFileFull = false
    while (!writer.isDurable()) await new Promise(setImmediate)
    expect(kinds()).toEqual([['challenged'], ['accepted']])
    expect(failures).toHaveLength(8)
    expect(writer.stats()).toEqual({ records: 2, failed: false })
    expect(() => writer.assertRoom()).not.toThrow()
  })

  it('lets nothing begin while the index refuses, and appends nothing while too much waits for it', async () => {
    const { world, writer, kinds, nextSleep } = createWorld()
    writer.note(issued(1))
    await writer.durable()
    world.refusal = full
    expect(() => writer.assertRoom()).toThrow('the index is full')
    expect(writer.stats()).toEqual({ records: 1, failed: true })
    writer.note(accepted(1))
    await expect(writer.durable()).rejects.toMatchObject({ code: 'journal_failed' })
    expect(kinds()).toEqual([['challenged']])
    const sleep = await nextSleep()
    world.refusal = undefined
    sleep.end()
    while (!writer.isDurable()) await new Promise(setImmediate)
    expect(kinds()).toEqual([['challenged'], ['accepted']])
    expect(() => writer.assertRoom()).not.toThrow()
  })

  it('makes a damaged index anew by itself, and whoever waits is told when that is done', async () => {
    const { world, writer, kinds, failures } = createWorld()
    writer.note(issued(1))
    await writer.durable()
    world.isIndexDamaged = true
    writer.note(accepted(1))
    await writer.durable()
    expect([kinds(), world.fills]).toEqual([[['challenged'], ['accepted']], 1])
    // A question found the damage, and no payment comes by.
    world.isIndexDamaged = true
    writer.mendIndex()
    await new Promise(setImmediate)
    expect(() => writer.assertRoom()).toThrow(/cannot be written/)
    while (world.isIndexDamaged || writer.stats().failed) await new Promise(setImmediate)
    expect([world.fills, failures.length]).toEqual([2, 0])
  })

  it('goes on with payments when an index that could not be made anew can be', async () => {
    const { world, writer, kinds, nextSleep } = createWorld()
    Object.assign(world, { isIndexDamaged: true, refusal: full })
    writer.note(issued(1))
    await expect(writer.durable()).rejects.toMatchObject({ code: 'journal_failed' })
    const sleep = await nextSleep()
    world.refusal = undefined
    sleep.end()
    while (!writer.isDurable()) await new Promise(setImmediate)
    expect([kinds(), world.fills]).toEqual([[['challenged']], 2])
  })

  it('lets nothing begin while too many payments wait', async () => {
    const { writer } = createWorld({ historyWaitingMax: 2 })
    writer.note(issued(1))
    expect(() => writer.assertRoom()).not.toThrow()
    writer.note(issued(2))
    expect(() => writer.assertRoom()).toThrow(/cannot be written/)
    await writer.durable()
    expect(() => writer.assertRoom()).not.toThrow()
  })

  it('records a disclosure once, and none of an unknown payment or by anybody but its payer', async () => {
    const { writer, kinds, payments } = createWorld()
    writer.note(accepted(1))
    writer.note(issued(2))
    await writer.disclose(nonceOf(1), addressOf(0xbad))
    await writer.disclose(nonceOf(2), from)
    expect(payments.get(nonceOf(1))?.disclosedAt).toBeUndefined()
    await writer.disclose(nonceOf(1), from)
    expect(payments.get(nonceOf(1))?.disclosedAt).toBe(0)
    await writer.disclose(nonceOf(1), from)
    await writer.disclose(nonceOf(9), from)
    expect(kinds()).toEqual([['challenged', 'accepted', 'challenged'], ['disclosed']])
  })

  it('writes what waits before it ends, once more where the disk refused, and takes nothing afterwards', async () => {
    const patient = createWorld()
    patient.world.isFileFull = true
    patient.writer.note(issued(1))
    await patient.nextSleep()
    patient.world.isFileFull = false
    await patient.writer.close()
    expect(patient.kinds()).toEqual([['challenged']])

    const refused = createWorld()
    refused.world.isFileFull = true
    refused.writer.note(issued(1))
    await refused.writer.close()
    expect(refused.writer.isDurable()).toBe(false)
    expect(() => refused.writer.assertRoom()).toThrow()
  })
})
