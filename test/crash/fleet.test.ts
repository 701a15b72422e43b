/** Three daemons on one database are one facilitator: one of them is active, the others stand by, and any may die or sleep. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun } from '../support/postgres-server.js'
import { seeded } from '../support/seeded.js'
import { until } from '../support/until.js'
import {
  type MadePayment,
  prepare,
  present,
  presentUntilAnswered,
  type SettleBody,
} from './support/client.js'
import { type Fleet, type Member, startFleet } from './support/fleet.js'
import { paymentsIn } from './support/journal.js'

describe.skipIf(notRun() !== '')(`daemons that share a database${notRun()}`, () => {
  let fleet: Fleet
  let payer: Awaited<ReturnType<Fleet['account']>>
  beforeAll(async () => {
    fleet = await startFleet()
    payer = await fleet.account({ tokens: 10_000_000n, gas: true })
  })
  afterAll(() => fleet.close())

  const members = () => fleet.members as unknown as readonly [Member, Member, Member]
  /** Whichever daemon is active answers. */
  const net = () => fleet.anywhere(seeded(1), { answerMs: 60_000, pauseMs: 50 })

  /** Events of this kind about a payment. */
  async function eventsOf(kind: string, { offer }: MadePayment): Promise<number> {
    await fleet.read()
    return fleet
      .records()
      .filter((record) => record.event === kind && JSON.stringify(record).includes(offer.challengeNonce))
      .length
  }

  /** The txNonces under which its burn was signed. A higher gas price has the same one. */
  async function txNoncesOf({ offer }: MadePayment): Promise<readonly number[]> {
    await fleet.read()
    type Signed = {
      readonly challengeNonces: readonly string[]
      readonly transaction: { readonly txNonce: number }
    }
    const signed = fleet.records().filter(({ event }) => event === 'burn_signed') as unknown as Signed[]
    const ours = signed.filter(({ challengeNonces }) => challengeNonces.includes(offer.challengeNonce))
    return [...new Set(ours.map(({ transaction }) => transaction.txNonce))]
  }

  /** Nothing is mined before `work` has come to what it waits for. */
  async function whilePaused<T>(work: () => Promise<{ readonly mined: Promise<T> }>): Promise<T> {
    await fleet.chain.pauseMining()
    const begun = await work().finally(() => fleet.chain.resumeMining())
    return begun.mined
  }

  it('settles of one payload at all daemons at once are granted exactly once', async () => {
    const active = await fleet.active()
    for (const mode of ['permit', 'self-transfer'] as const) {
      const payment = await prepare(net(), payer, mode)
      const at = [...members(), ...members()]
      const answers = await Promise.all(at.map(({ net }) => present(net, { ...payment, answers: [] })))
      const told = at.map((member, i) => [member === active, answers[i]] as const)
      for (const [isActive, answer] of told) {
        if (!isActive) expect(answer).toMatchObject({ success: false, errorReason: 'standby' })
      }
      const [one, other] = told.filter(([isActive]) => isActive).map(([, answer]) => answer)
      expect([one, other].filter((answer) => answer && answer !== 'none' && answer.success)).toHaveLength(1)
      expect([one, other]).toContainEqual(expect.objectContaining({ errorReason: 'already_accepted' }))
      expect(await eventsOf('payment_claimed', payment)).toBe(1)
      expect(await eventsOf('payment_accepted', payment)).toBe(1)
      expect(await txNoncesOf(payment)).toHaveLength(mode === 'permit' ? 1 : 0)
    }
  })

  it('when the active one is killed another one takes over, and serves what was under way', async () => {
    const active = await fleet.active()
    const payment = await prepare(net(), payer)
    const before = await fleet.lease()
    await active.kill()
    const since = performance.now()
    expect(await presentUntilAnswered(net(), payment)).toMatchObject({ success: true })
    const seconds = (performance.now() - since) / 1000
    process.stdout.write(`a payment was granted ${seconds.toFixed(1)} s after the active daemon was killed\n`)
    expect((await fleet.lease())?.term).toBeGreaterThan(before?.term ?? 0)
    await active.serve()
    expect(await present(active.net, { ...payment, answers: [] })).toMatchObject({ errorReason: 'standby' })
  })

  it('an active one that is stopped while its burn is under way signs and records nothing new when it wakes up', async () => {
    const active = await fleet.active()
    const [first, second, third] = [
      await prepare(net(), payer),
      await prepare(net(), await fleet.account()),
      await prepare(net(), await fleet.account()),
    ]
    const before = await fleet.lease()
    let asked: Promise<SettleBody> | undefined
    let late: Promise<unknown> | undefined
    try {
      const answers = await whilePaused(async () => {
        asked = presentUntilAnswered(active.net, { ...first, answers: [] })
        asked.catch(() => undefined)
        await until(async () => (await eventsOf('burn_signed', first)) > 0)
        active.run().signal('SIGSTOP')
        await until(async () => ((await fleet.lease())?.term ?? 0) > (before?.term ?? 0))
        const next = await fleet.active()
        // Its bytes are sent again by the next one, which also burns what is claimed now.
        const waiting = [first, second].map((payment) => presentUntilAnswered(next.net, payment))
        await until(async () => (await eventsOf('burn_signed', second)) > 0)
        // It finds this one when it wakes up, and would sign it for a txNonce that the other has used.
        late = present(active.net, { ...third, answers: [] })
        return { mined: Promise.all(waiting) }
      })
      for (const answer of answers) expect(answer).toMatchObject({ success: true })
    } finally {
      active.run().signal('SIGCONT')
    }
    await until(() => active.run().output().includes('active.lost'))
    await late
    expect(await presentUntilAnswered(net(), third)).toMatchObject({ success: true })
    await until(active.isReady)
    const txNonces = new Set<number>()
    for (const payment of [first, second, third]) {
      const own = await txNoncesOf(payment)
      expect(own).toHaveLength(1)
      for (const txNonce of own) txNonces.add(txNonce)
      expect(await eventsOf('payment_accepted', payment)).toBe(1)
    }
    expect(txNonces.size).toBe(3)
    expect(await fleet.active()).not.toBe(active)
    await fleet.expectNothingStuck()
  })

  it('a clean stop hands over before it ends what is under way, and the next one grants that', async () => {
    const active = await fleet.active()
    const payment = await prepare(net(), payer)
    const before = await fleet.lease()
    let stopping: Promise<unknown> | undefined
    const answer = await whilePaused(async () => {
      const asked = presentUntilAnswered(net(), payment)
      await until(async () => (await eventsOf('burn_signed', payment)) > 0)
      const since = performance.now()
      stopping = active.stop()
      // No block comes, so the settle could not end here, and nobody waits for that.
      await until(async () => ((await fleet.lease())?.term ?? 0) > (before?.term ?? 0))
      const seconds = (performance.now() - since) / 1000
      process.stdout.write(`another daemon was active ${seconds.toFixed(1)} s after the stop\n`)
      return { mined: asked }
    })
    expect(answer).toMatchObject({ success: true })
    expect(await txNoncesOf(payment)).toHaveLength(1)
    await stopping
    await active.serve()
  })

  it('daemons that are restarted one after the other interrupt no payment', async () => {
    const payments: MadePayment[] = []
    let isOver = false
    const load = Promise.all(
      [1, 2, 3].map(async (seed) => {
        const choose = seeded(seed)
        const net = fleet.anywhere(choose, { answerMs: 60_000, pauseMs: 50 })
        const account = await fleet.account({ tokens: 10_000_000n, gas: true })
        while (!isOver) {
          const payment = await prepare(net, account, choose() < 0.6 ? 'permit' : 'self-transfer')
          payments.push(payment)
          await presentUntilAnswered(net, payment)
        }
      }),
    )
    for (const member of members()) {
      await member.stop()
      await member.serve()
      await sleep(500)
    }
    isOver = true
    await load
    await fleet.read()
    const recorded = paymentsIn(fleet.records())
    for (const { offer, answers } of payments) {
      expect(recorded.get(offer.challengeNonce)?.accepted, offer.challengeNonce).toBe(1)
      expect(answers.filter((answer) => answer !== 'none' && answer.success)).toHaveLength(1)
    }
    expect(fleet.deaths).toEqual([])
  })
})
