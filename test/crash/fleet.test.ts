/** Three daemons on one database are one facilitator: any of them serves, one of them sends, and any may die or sleep. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun } from '../support/postgres-server.js'
import { seeded } from '../support/seeded.js'
import { until } from '../support/until.js'
import {
  ask,
  type MadePayment,
  prepare,
  present,
  presentUntilAnswered,
  requestOffer,
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
  /** The same payment, presented at this daemon. Its answers are its own. */
  const presentAt = ({ net }: Member, payment: MadePayment) => present(net, { ...payment, answers: [] })

  /** The daemon that sends, and the others. */
  async function roles(): Promise<{ sender: Member; others: readonly Member[] }> {
    const sender = await until(async () => {
      const { holder } = (await fleet.lease()) ?? {}
      return members().find((member) => holder?.includes(`(process ${member.run().pid}`))
    })
    return { sender, others: members().filter((member) => member !== sender) }
  }

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

  it('a payment is challenged at one, verified at another, settled at a third, and told the same anywhere', async () => {
    for (const mode of ['permit', 'self-transfer'] as const) {
      const [a, b, c] = members()
      const payment = await prepare(a.net, payer, mode)
      expect((await ask(b.net, '/verify', payment.body))?.body).toMatchObject({ isValid: true })
      const granted = (await presentAt(c, payment)) as SettleBody
      expect(granted).toMatchObject({ success: true })
      const [again, ...others] = await Promise.all([a, b, c].map((member) => presentAt(member, payment)))
      expect(again).toMatchObject({
        success: false,
        errorReason: 'already_accepted',
        transaction: granted.transaction,
      })
      expect(others).toEqual([again, again])
      const paths = [a, b, c].map(({ net }) => ask(net, `/payments/${payment.offer.challengeNonce}`))
      const [status, ...same] = await Promise.all(paths)
      expect(status).toMatchObject({ status: 200 })
      expect(same).toEqual([status, status])
    }
  })

  it('settles of one payload at all daemons at once are granted exactly once', async () => {
    for (let count = 0; count < 5; count++) {
      const payment = await prepare(
        members()[count % 3]?.net ?? fleet,
        payer,
        count % 2 ? 'self-transfer' : 'permit',
      )
      const answers = await Promise.all(
        [...members(), ...members()].map((member) => presentAt(member, payment)),
      )
      expect(answers.filter((answer) => answer !== 'none' && answer.success)).toHaveLength(1)
      const refused = answers.filter((answer) => answer !== 'none' && !answer.success)
      expect(refused).toHaveLength(5)
      for (const answer of refused) expect(answer).toMatchObject({ errorReason: 'already_accepted' })
      expect(await eventsOf('payment_claimed', payment)).toBe(1)
      expect(await eventsOf('payment_accepted', payment)).toBe(1)
      expect(await txNoncesOf(payment)).toHaveLength(count % 2 ? 0 : 1)
    }
  })

  it('a settle that waits at a daemon which does not send is answered when the sender has the receipt', async () => {
    const { others } = await roles()
    const [waiting] = others
    if (!waiting) throw new Error('nobody waits')
    const payment = await prepare(waiting.net, payer)
    const answer = await whilePaused(async () => {
      const asked = presentUntilAnswered(waiting.net, payment)
      await until(async () => (await eventsOf('burn_signed', payment)) > 0)
      expect(payment.answers.filter((told) => told !== 'none' && told.success)).toEqual([])
      return { mined: asked }
    })
    expect(answer).toMatchObject({ success: true })
  })

  it('a claim that fails at the sender is refused with the same words where it was made', async () => {
    const { sender, others } = await roles()
    const poor = await fleet.account({ tokens: 1n })
    const [other] = others
    if (!other) throw new Error('there is no other')
    const payment = await prepare(other.net, poor)
    const [there, here] = [await presentAt(other, payment), await presentAt(sender, payment)]
    expect(there).toMatchObject({ success: false })
    expect(here).toEqual(there)
  })

  it('when the sender is killed another one takes over, and burns what was claimed meanwhile', async () => {
    const { sender, others } = await roles()
    const [other] = others
    if (!other) throw new Error('there is no other')
    const payment = await prepare(other.net, payer)
    const before = await fleet.lease()
    await sender.kill()
    const since = performance.now()
    expect(await presentUntilAnswered(other.net, payment)).toMatchObject({ success: true })
    const seconds = (performance.now() - since) / 1000
    process.stdout.write(
      `a payment at another daemon was granted ${seconds.toFixed(1)} s after its sender was killed\n`,
    )
    expect((await fleet.lease())?.term).toBeGreaterThan(before?.term ?? 0)
    await sender.serve()
    expect(await presentAt(sender, payment)).toMatchObject({ errorReason: 'already_accepted' })
  })

  it('a sender that is stopped while its burn is under way signs and records nothing new when it wakes up', async () => {
    const { sender, others } = await roles()
    const [other] = others
    if (!other) throw new Error('there is no other')
    const [first, second, third] = [
      await prepare(sender.net, payer),
      await prepare(other.net, await fleet.account()),
      await prepare(sender.net, await fleet.account()),
    ]
    const before = await fleet.lease()
    const again = { ...first, answers: [] }
    let asked: Promise<SettleBody> | undefined
    let late: Promise<SettleBody> | undefined
    try {
      const answers = await whilePaused(async () => {
        asked = presentUntilAnswered(sender.net, again)
        await until(async () => (await eventsOf('burn_signed', first)) > 0)
        sender.run().signal('SIGSTOP')
        await until(async () => ((await fleet.lease())?.term ?? 0) > (before?.term ?? 0))
        // Its bytes are sent again by the next one, which also burns what is claimed now.
        const waiting = others.map((member, i) =>
          presentUntilAnswered(member.net, [first, second][i] ?? first),
        )
        await until(async () => (await eventsOf('burn_signed', second)) > 0)
        // It finds this one when it wakes up, and would sign it for a txNonce that the other has used.
        late = presentUntilAnswered(sender.net, third)
        return { mined: Promise.all(waiting) }
      })
      for (const answer of answers) expect(answer).toMatchObject({ success: true })
    } finally {
      sender.run().signal('SIGCONT')
    }
    await until(() => sender.run().output().includes('work.lost'))
    expect(await asked).toMatchObject({ success: false, errorReason: 'already_accepted' })
    expect(await late).toMatchObject({ success: true })
    await until(sender.isReady)
    const txNonces = new Set<number>()
    for (const payment of [first, second, third]) {
      const own = await txNoncesOf(payment)
      expect(own).toHaveLength(1)
      for (const txNonce of own) txNonces.add(txNonce)
      expect(await eventsOf('payment_accepted', payment)).toBe(1)
    }
    expect(txNonces.size).toBe(3)
    const after = await fleet.lease()
    expect(after?.holder).not.toContain(`(process ${sender.run().pid}`)
    await fleet.expectNothingStuck()
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
    const { sender, others } = await roles()
    for (const member of [sender, ...others.slice(1)]) {
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
    // What any of them issued, all of them know.
    const offer = await requestOffer(members()[0].net, '1000')
    for (const { net } of members()) {
      expect(await ask(net, `/payments/${offer.challengeNonce}`)).toMatchObject({ status: 200 })
    }
  })
})
