import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf, hashOf } from '../../../test/challenges.js'
import { createFeeLedger } from '../../../test/fee-ledger.js'
import type { FlowEvent } from '../report.js'
import type { SweepOutcome } from './ports.js'
import { createSweeper } from './sweeper.js'

const treasury = addressOf(0xa2)
const transaction = { txNonce: 0, hash: hashOf(50), raw: '0x02', from: addressOf(0xb0) } as const
const done = { kind: 'done', txHash: transaction.hash, blockNumber: 9n } as const
/** Lets everything that waits for the ledger have its turn. */
const ticks = async () => {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A ledger with one fee of 10, and a sender that says what the test tells it to. */
async function setup() {
  const clock = stoppedClock()
  const fees = await createFeeLedger(clock)
  await fees.earn(treasury, [10n])
  const events: FlowEvent[] = []
  const world = {
    outcome: async (): Promise<SweepOutcome> => done,
    isSigned: true,
    endSweep: (...given: Parameters<ReturnType<typeof fees.ledger>['endSweep']>) =>
      fees.ledger().endSweep(...given),
    sent: 0,
    resumed: 0,
  }
  const sweeper = createSweeper({
    ledger: { ...fees.ledger(), endSweep: (...given) => world.endSweep(...given) },
    sender: {
      async send(sweep, onSigned) {
        world.sent += 1
        if (world.isSigned) {
          await fees.ledger().recordSweepSigned(sweep, transaction)
          onSigned(transaction.hash)
        }
        return world.outcome()
      },
      resume() {
        world.resumed += 1
        return world.outcome()
      },
    },
    sentBefore: async () => 'nothing',
    clock,
    terms: { treasury, minAmount: 0n, intervalMs: 60_000, paymentsMax: 10 },
    retryMs: { first: 1_000, max: 4_000 },
    report: (event) => events.push(event),
  })
  const count = (name: FlowEvent['event']) => events.filter(({ event }) => event === name).length
  return { clock, fees, world, sweeper, count, open: async () => (await fees.ledger().openSweeps()).length }
}

describe('a sweeper', () => {
  it('waits for the interval, and then sweeps without being asked', async () => {
    const { clock, fees, world, sweeper, count } = await setup()
    await sweeper.round()
    expect(world.sent).toBe(0)
    clock.advance(60_000)
    await sweeper.round()
    await ticks()
    expect([world.sent, count('fees.swept'), (await fees.ledger().swept()).amount]).toEqual([1, 1, 10n])
    await sweeper.round()
    expect(world.sent).toBe(1)
  })

  it('whose end the disk refuses takes the sweep up again, and sends no other', async () => {
    const { clock, fees, world, sweeper, open } = await setup()
    const { endSweep } = world
    world.endSweep = () => Promise.reject(new Error('disk full'))
    clock.advance(60_000)
    await sweeper.round()
    await ticks()
    expect([await open(), (await sweeper.view()).lastFailure]).toMatchObject([1, { why: 'unavailable' }])
    world.endSweep = endSweep
    await sweeper.round()
    await ticks()
    expect([world.sent, world.resumed, await open()]).toEqual([1, 1, 0])
    expect((await fees.ledger().swept()).amount).toBe(10n)
    expect((await sweeper.view()).lastFailure).toBeUndefined()
  })

  it.each(['reverted', 'displaced'] as const)(
    'has its fees due again when the transfer was %s',
    async (why) => {
      const { clock, world, sweeper, open, count } = await setup()
      world.outcome = async () => ({ kind: 'failed', why })
      clock.advance(60_000)
      await sweeper.round()
      await ticks()
      expect([await open(), (await sweeper.view()).due.amount, count('fees.sweep_failed')]).toEqual([
        0,
        10n,
        1,
      ])
      await sweeper.round()
      // The pause after a failure has not passed, unless an operator asks.
      expect(world.sent).toBe(1)
      world.outcome = async () => done
      expect(await sweeper.now({ isDryRun: false })).toMatchObject({ kind: 'sent', txHash: transaction.hash })
    },
  )

  it('ends no sweep whose end is unknown', async () => {
    const { clock, world, sweeper, open } = await setup()
    world.outcome = async () => ({ kind: 'failed', why: 'unavailable', err: new Error('no answer') })
    clock.advance(60_000)
    await sweeper.round()
    await ticks()
    expect([await open(), (await sweeper.view()).due.amount]).toEqual([1, 0n])
    expect((await sweeper.view()).lastFailure?.message).toMatch(/tried again \(no answer\)$/)
  })

  it('signs nothing in a dry run, and tells why nothing was signed', async () => {
    const { world, sweeper, open } = await setup()
    expect(await sweeper.now({ isDryRun: true })).toMatchObject({ kind: 'planned', sweep: { amount: 10n } })
    expect([world.sent, await open()]).toEqual([0, 0])
    world.isSigned = false
    world.outcome = async () => ({ kind: 'failed', why: 'treasury_short' })
    expect(await sweeper.now({ isDryRun: false })).toMatchObject({ kind: 'failed', why: 'treasury_short' })
    expect([world.sent, await open()]).toEqual([1, 0])
  })
})
