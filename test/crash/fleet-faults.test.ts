/**
 * Three daemons on one database, while anything may fail: daemons are killed, or stopped for longer than a lease runs; their
 * connections are cut, refused or frozen; the database is restarted as after a power failure, or frozen; the chain is
 * reorganised. Their clocks are five seconds apart. `npm run test:crash` has 500 rounds; `CRASH_SEED` repeats the choices of
 * an earlier run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { developmentRoles } from '@svc-zerc20/devnet'
import { describe, expect, it, onTestFailed } from 'vitest'
import { lightArtifacts } from '../support/light-artifacts.js'
import { notRun } from '../support/postgres-server.js'
import { drawing, seeded } from '../support/seeded.js'
import { until } from '../support/until.js'
import { ask, type MadePayment, type Mode, prepare, present, presentUntilAnswered } from './support/client.js'
import { type Fleet, leaseMs, type Member, startFleet } from './support/fleet.js'
import { expectHistory, readHistory } from './support/history.js'
import { expectAgreement, expectGrantsAreRemembered } from './support/reckoning.js'

const rounds = Number(process.env.CRASH_ROUNDS ?? 10)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const payers = 6
const pauseMsMax = 500
/** Share of the faults that begin while the one before is not over. */
const overlapShare = 0.3
const servedPerRound = 2
const blockMs = 200
const clocksAheadMs = [0, 5_000, -5_000]
const reorgBlocksMax = 4
const secondsPerRound = 30
/** Extra seconds for the network, the last mints and the comparison, on a busy machine. */
const secondsBesides = 600

type Fault = {
  readonly name: string
  strike(member: Member, fleet: Fleet, random: () => number): Promise<void>
}

type Load = {
  readonly payments: MadePayment[]
  readonly balances: Map<string, bigint>
  served: number
  isOver: boolean
}

const between = (random: () => number, least: number, most: number) => least + random() * (most - least)

const faults: readonly Fault[] = [
  {
    name: 'kill',
    async strike(member, _fleet, random) {
      await member.kill()
      await sleep(between(random, 0, 1_000))
      await member.serve()
    },
  },
  {
    name: 'stop',
    async strike(member, _fleet, random) {
      member.run().signal('SIGSTOP')
      await sleep(leaseMs + between(random, 500, 2_000))
      member.run().signal('SIGCONT')
    },
  },
  {
    name: 'cut',
    async strike({ wire }, _fleet, random) {
      for (let cuts = 0; cuts < 5; cuts++) {
        wire.cut()
        await sleep(between(random, 0, 300))
      }
    },
  },
  {
    name: 'refused',
    async strike({ wire }, _fleet, random) {
      wire.turn('refused')
      await sleep(between(random, 500, leaseMs + 1_000))
      wire.turn('open')
    },
  },
  {
    name: 'frozen wire',
    async strike({ wire }, _fleet, random) {
      wire.turn('frozen')
      await sleep(between(random, 500, leaseMs + 2_000))
      // What was sent meanwhile arrives late, or never.
      if (random() < 0.5) wire.cut()
      wire.turn('open')
    },
  },
  { name: 'database restarted', strike: (_member, { server }) => server.restart() },
  {
    name: 'database frozen',
    async strike(_member, { server }, random) {
      server.freeze()
      await sleep(between(random, 500, leaseMs))
      server.thaw()
    },
  },
  {
    name: 'reorg',
    async strike(_member, { chain }, random) {
      await chain.reorg(1 + Math.floor(random() * reorgBlocksMax), { keepTransactions: true })
    },
  },
]

/** One fault after the other. Sometimes the next one begins, at another daemon, before the last one is over. */
async function strikeRepeatedly(
  fleet: Fleet,
  random: () => number,
  load: Load,
  told: string[],
): Promise<void> {
  const [nextFault, nextMember] = [drawing(faults, random), drawing(fleet.members, random)]
  /** The faults that may not be over yet. */
  let struck: { readonly member: Member; readonly over: Promise<void> }[] = []
  const allOver = async () => {
    await Promise.all(struck.map(({ over }) => over))
    struck = []
  }
  for (let round = 1; round <= rounds && !load.isOver; round++) {
    const [fault, member] = [nextFault(), nextMember()]
    if (random() >= overlapShare || struck.some((last) => last.member === member)) await allOver()
    const { served } = load
    told.push(`round ${round}: ${fault.name} at ${member.name}`)
    const over = fault.strike(member, fleet, random)
    struck.push({ member, over })
    await Promise.race([over, sleep(between(random, 0, leaseMs))])
    await sleep(between(random, 0, 1_000))
    // However slow the machine is, there are payments in each round.
    await until(() => load.served >= served + servedPerRound || load.isOver)
  }
  await allOver()
}

/** Buys one thing after the other. Challenged at one daemon, verified at another, settled anywhere, sometimes at two at once. */
async function buy(fleet: Fleet, choose: () => number, load: Load): Promise<void> {
  const anywhere = fleet.anywhere(choose)
  const account = await fleet.account({ tokens: 100_000_000n, gas: true })
  load.balances.set(account.address, 100_000_000n)
  // Counted here: a reorg takes a burn back for a while, and with it the count of the chain.
  let permits = 0n
  const net = { ...anywhere, permitNonce: async () => permits++ }
  while (!load.isOver) {
    const mode: Mode = choose() < 0.6 ? 'permit' : 'self-transfer'
    const payment = await prepare(net, account, mode, `${1 + Math.floor(choose() * 1_000)}`)
    load.payments.push(payment)
    await ask(net, '/verify', payment.body)
    if (choose() < 0.3) await Promise.all([present(net, payment), present(net, payment)])
    // Which of two answers came first says nothing.
    payment.answers.sort((one, other) => Number(isGranted(one)) - Number(isGranted(other)))
    if (!payment.answers.some(isGranted)) await presentUntilAnswered(net, payment)
    load.served += 1
    await sleep(choose() * pauseMsMax)
  }
}

const isGranted = (answer: MadePayment['answers'][number]) => answer !== 'none' && answer.success

/** What a participant may ask for later is on every disk: each file tells every turn of the database. */
async function expectHistories(fleet: Fleet, payments: readonly MadePayment[]): Promise<void> {
  const kinds = `'challenge_issued', 'payment_accepted', 'payment_demoted', 'burn_moved', 'payment_finalized', 'burn_late', 'burn_unmatched'`
  const numbers = await fleet.ask(`SELECT seq FROM event WHERE kind IN (${kinds}) ORDER BY seq`)
  for (const { historyFile, name } of fleet.members) {
    const told = readHistory(historyFile).map(({ number }) => number)
    expect(told.join('\n'), `numbers of the events in the history of ${name}`).toBe(numbers)
    await expectHistory({ ...fleet, historyFile }, payments, { minted: true, reorgs: true })
  }
}

describe.skipIf(notRun() !== '')(`three daemons on one database${notRun()}`, () => {
  it(
    `${rounds} rounds of faults under load lose nothing and do nothing twice (seed ${seed})`,
    async () => {
      const replay = `CRASH_SEED=${seed} CRASH_ROUNDS=${rounds} npm run test:crash`
      onTestFailed(() => {
        process.stderr.write(`to repeat: ${replay}\n${told.join('\n')}\n`)
      })
      /** What was done, and what daemons complained of. */
      const told: string[] = []
      const fleet = await startFleet({
        size: Number(process.env.FLEET ?? 3),
        aheadMs: clocksAheadMs,
        finalization: true,
        artifacts: await lightArtifacts(),
        mining: { mode: 'interval', intervalMs: blockMs },
        config: {
          // Nothing expires, however slow the machine is: every payment must end in its burn.
          settlement: { challenge_ttl_seconds: 86_400 },
          // Deeper than any reorg: a mint that is taken back would be counted twice by nobody but this test.
          finalize: { confirmations: 2 * reorgBlocksMax },
        },
      })
      const load: Load = { payments: [], balances: new Map(), served: 0, isOver: false }
      const { payments, balances } = load
      try {
        const earned = await fleet.balanceOf(developmentRoles.treasury.address)
        const buying = Promise.all(
          Array.from({ length: payers }, (_, i) => buy(fleet, seeded(seed + 1 + i), load)),
        )
        // It ends by itself only when it fails.
        await Promise.race([strikeRepeatedly(fleet, seeded(seed), load, told), buying])
        load.isOver = true
        await fleet.heal()
        await buying
        const finalized = `SELECT count(*) FROM event WHERE kind = 'payment_finalized'`
        await until(async () => Number(await fleet.ask(finalized)) >= payments.length)
        expect(fleet.deaths).toEqual([])

        const judge = async () => {
          await fleet.stopAll()
          await fleet.read()
          await expectAgreement(fleet, payments, balances)
          await expectHistories(fleet, payments)
          await fleet.expectNothingStuck()
        }
        await judge()
        const due = payments.reduce((sum, { offer }) => sum + BigInt(offer.amount), 0n)
        expect((await fleet.balanceOf(developmentRoles.treasury.address)) - earned, 'minted').toBe(due)

        await fleet.serveAll()
        const openGrants = await expectGrantsAreRemembered(
          fleet.anywhere(seeded(seed), { answerMs: 60_000, pauseMs: 100 }),
          payments,
        )
        await fleet.auditAt(fleet.members.at(-1)?.url() ?? '')
        await judge()
        const relayed = payments.filter(({ mode }) => mode === 'permit').length
        process.stdout.write(
          `${rounds} rounds, ${payments.length} payments (${relayed} relayed), ${openGrants} answers written at the instant of a fault\n`,
        )
      } finally {
        load.isOver = true
        told.push(...fleet.logged(50))
        await fleet.close()
      }
    },
    (secondsBesides + rounds * secondsPerRound) * 1000,
  )
})
