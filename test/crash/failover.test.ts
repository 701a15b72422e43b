/**
 * A standby takes over that lacks the last transactions, because it copies the primary asynchronously. The two daemons run on:
 * they find an older copy of their ledger, and what happened behind it only on the chain.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun, type PostgresServer, startPostgres } from '../support/postgres-server.js'
import { seeded } from '../support/seeded.js'
import { startTcpSwitch, type TcpSwitch } from '../support/tcp-switch.js'
import { until } from '../support/until.js'
import {
  type Answer,
  ask,
  type MadePayment,
  type Mode,
  prepare,
  present,
  presentUntilAnswered,
} from './support/client.js'
import { type Fleet, type Member, startFleet } from './support/fleet.js'
import { runDaemon } from './support/runs.js'

const isGranted = (answer: Answer) => answer !== 'none' && answer.success

describe.skipIf(notRun() !== '')(`a standby that takes over too early${notRun()}`, () => {
  let fleet: Fleet
  let primary: PostgresServer
  let standby: PostgresServer
  let replication: TcpSwitch
  const all: MadePayment[] = []
  beforeAll(async () => {
    fleet = await startFleet({ size: 2, config: { settlement: { challenge_ttl_seconds: 3_600 } } })
    primary = fleet.server
    replication = await startTcpSwitch(primary.port)
    standby = await startPostgres({ standbyOf: replication.port })
  })
  afterAll(async () => {
    await fleet.close()
    await primary.close()
    await standby.close()
    await replication.close()
  })

  const members = () => fleet.members as unknown as readonly [Member, Member]
  /** Whichever daemon is active answers. */
  const net = () => fleet.anywhere(seeded(1), { answerMs: 60_000, pauseMs: 50 })

  /** An offer, and what pays it. A self-transfer is on the chain already. */
  async function offered(mode: Mode = 'permit'): Promise<MadePayment> {
    const account = await fleet.account({ gas: mode === 'self-transfer' })
    const payment = await prepare(net(), account, mode)
    all.push(payment)
    return payment
  }
  async function serve(payment: MadePayment): Promise<void> {
    expect(await presentUntilAnswered(net(), payment)).toMatchObject({ success: true })
  }
  const burnsOf = async ({ offer }: MadePayment) =>
    (await fleet.transfers()).filter(({ args }) => args.to?.toLowerCase() === offer.payTo.toLowerCase())

  it('is not used while it is read-only; then it is accepted without a restart, and nothing is burned or granted twice', async () => {
    const active = await fleet.active()
    const processes = members().map(({ run }) => run().pid)
    const settled = await offered()
    await serve(settled)
    // Known to the copy: one that is served behind it, one paid and not presented, one under way at the end, one not paid.
    const servedBehind = await offered()
    const unpresented = await offered('self-transfer')
    const [underWay, open] = [await offered(), await offered()]
    const written = await primary.run('SELECT pg_current_wal_lsn()')
    await until(async () => (await standby.run(`SELECT pg_last_wal_replay_lsn() >= '${written}'`)) === 't')
    const inCopy = Number(await fleet.ask('SELECT applied FROM ledger'))

    // What the primary takes from now on is lost with it.
    replication.turn('refused')
    await serve(servedBehind)
    const unknown = [await offered(), await offered('self-transfer')]
    for (const payment of unknown) await serve(payment)
    const unknownUnserved = await offered('self-transfer')
    await fleet.chain.pauseMining()
    const asked = present(active.net, underWay)
    const isSigned = `SELECT count(*) FROM event WHERE kind = 'burn_signed' AND record LIKE '%${underWay.offer.challengeNonce}%'`
    await until(async () => (await fleet.ask(isSigned)) === '1')
    await primary.end()
    fleet.moveTo(standby)

    await Promise.all(
      members().map(async ({ net, isReady }) => {
        // Not before a write failed; leases are renewed all the time. A daemon that stands by says so, as before.
        if (net === active.net) await until(async () => !(await isReady()))
        const status = `/payments/${settled.offer.challengeNonce}`
        for (const [path, body] of [
          ['/challenge', { amount: '1000' }],
          ['/verify', open.body],
          ['/settle', open.body],
          // One question finds the end of its connection to the primary.
          ...Array.from({ length: 10 }, () => [status] as const),
        ] as const) {
          expect(await ask(net, path, body), path).toMatchObject({
            status: 503,
          })
        }
      }),
    )
    expect(await asked).toMatchObject({ success: false })
    open.answers.length = 0

    await standby.run('SELECT pg_promote()')
    const opened = presentUntilAnswered(net(), open)
    await Promise.all(members().map(({ isReady }) => until(isReady)))
    // A burn that is mined before the copy is accepted may have been granted behind it, and buys nothing.
    await until(() => members().some(({ run }) => run().output().includes('"ledger.copy_accepted"')))
    await fleet.chain.resumeMining()
    expect(await opened).toMatchObject({ success: true })
    await serve(underWay)
    for (const mode of ['permit', 'self-transfer'] as const) {
      await serve(await offered(mode))
    }
    // The acceptance comes before anything else, and is the work of the one that works.
    const [first] = (await fleet.ask(`SELECT record FROM event WHERE seq > ${inCopy} ORDER BY seq`)).split(
      '\n',
    )
    expect(first).toContain('"name":"doubt"')
    const worker = await fleet.ask(`SELECT holder FROM lease WHERE name = 'active'`)
    const accepting = members().filter(({ run }) => run().output().includes('"ledger.copy_accepted"'))
    expect(accepting.map(({ run }) => worker.includes(`(process ${run().pid},`))).toEqual([true])

    const { net: atLast } = await fleet.active()
    for (const [payments, told] of [
      [[settled, open, underWay], { errorReason: 'already_accepted' }],
      [[servedBehind, unpresented], { success: false }],
      [[...unknown, unknownUnserved], { errorReason: 'unknown_challenge' }],
    ] as const) {
      for (const payment of payments) expect(await present(atLast, payment)).toMatchObject(told)
    }
    const unserved = [unpresented, unknownUnserved]
    for (const payment of all) {
      expect(await burnsOf(payment)).toHaveLength(1)
      expect(payment.answers.filter(isGranted)).toHaveLength(unserved.includes(payment) ? 0 : 1)
    }
    await fleet.expectNothingStuck()
    expect(members().map(({ run }) => run().pid)).toEqual(processes)
    expect(fleet.deaths).toEqual([])

    // No burn is lost: each is on record, at the latest when an operator looks for those of unknown challenges.
    await fleet.stopAll()
    const nonces = [...unknown, unknownUnserved].flatMap(({ offer }) => ['--nonce', offer.challengeNonce])
    const recovery = runDaemon(active.configFile, { command: 'recover', args: nonces })
    expect(await recovery.ended, recovery.output()).toBe('0')
    const recorded = await fleet.ask(
      `SELECT string_agg(record, ' ') FROM event WHERE kind IN ('payment_accepted', 'burn_late')`,
    )
    for (const { offer } of all) expect(recorded).toContain(offer.challengeNonce)
  })
})
