/**
 * Three daemons on one database, while anything may fail: daemons are killed, or stopped for longer than a lease runs; their
 * connections are cut, refused or frozen; the database is restarted as after a power failure, or frozen; the chain is
 * reorganised. Their clocks are five seconds apart. Rounds come in acts: in each, one of them may be missing from the first
 * round to the last, dead or without the database. `npm run test:crash` has 500 rounds; `CRASH_SEED` repeats the choices of an
 * earlier run.
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
import type { CrashNetwork } from './support/network.js'
import { expectAgreement, expectGrantsAreRemembered } from './support/reckoning.js'

const rounds = Number(process.env.CRASH_ROUNDS ?? 10)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const roundsPerAct = 4
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
  strike(member: Member, fleet: Fleet, random: () => number, load: Load): Promise<void>
}

/** How a daemon goes missing. */
type Loss = {
  readonly name: string
  /** It strikes the daemon that is active. */
  readonly isOfActive?: true
  /** Gives the end of it. */
  strike(member: Member, fleet: Fleet, random: () => number, load: Load): Promise<() => Promise<void>>
}

type Load = {
  readonly payments: MadePayment[]
  readonly balances: Map<string, bigint>
  /** Payments that were presented and not answered. */
  readonly underWay: Set<MadePayment>
  served: number
  kills: number
  /** Daemons that were without the database for longer than a takeover keeps grants back. */
  cutOffs: number
  /** Payments that were granted by such a daemon and, because it could not record that, once more by another. */
  grantedTwice: number
  isOver: boolean
}

const between = (random: () => number, least: number, most: number) => least + random() * (most - least)

const faults: readonly Fault[] = [
  {
    name: 'kill',
    async strike(member, _fleet, random, load) {
      load.kills += 1
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

const losses: readonly (Loss | undefined)[] = [
  undefined,
  {
    name: 'dead',
    async strike(member, _fleet, _random, load) {
      load.kills += 1
      await member.kill()
      return member.serve
    },
  },
  {
    // At the worst instant: it has answered, and nobody else can know. The next active one grants once more after a while.
    name: 'without the database',
    isOfActive: true,
    async strike({ net, wire }, fleet, random, load) {
      load.cutOffs += 1
      const amount = 1_000n
      const account = await fleet.account({ tokens: amount })
      const payment = await prepare(net, account, 'permit', `${amount}`)
      load.balances.set(account.address, amount)
      load.payments.push(payment)
      const cut = wire.refuseAt(`"grant_used","challengeNonce":"${payment.offer.challengeNonce}"`)
      expect(await presentUntilAnswered(net, payment)).toMatchObject({ success: true })
      await cut
      const others = fleet.anywhere(seeded(random() * 2 ** 32), { answerMs: 60_000, pauseMs: 100 })
      const again = presentUntilAnswered(others, { ...payment, answers: [] })
      again.catch(() => undefined)
      return async () => {
        const { success, errorReason } = await again
        if (success) load.grantedTwice += 1
        else expect(errorReason).toBe('already_accepted')
        wire.turn('open')
      }
    },
  },
]

/** Gives act after act: whom faults may strike in it, and its end, behind the last of them. */
function actsOf(fleet: Fleet, random: () => number, load: Load, told: string[]) {
  const nextLoss = drawing(losses, random)
  const nextMissing = drawing(fleet.members, random)
  return async () => {
    const loss = nextLoss()
    const missing = loss?.isOfActive ? await fleet.active() : nextMissing()
    told.push(`act: ${loss ? `${missing.name} is ${loss.name}` : 'nobody is missing'}`)
    const comeBack = await loss?.strike(missing, fleet, random, load)
    const begun = [...load.underWay]
    return {
      nextMember: drawing(loss ? fleet.members.filter((each) => each !== missing) : fleet.members, random),
      async end(): Promise<void> {
        // Whatever the missing one had begun, the others have ended without it.
        await until(() => load.isOver || !begun.some((payment) => load.underWay.has(payment)))
        await comeBack?.()
      },
    }
  }
}

/** One fault after the other. Sometimes the next one begins, at another daemon, before the last one is over. */
async function strikeRepeatedly(
  fleet: Fleet,
  random: () => number,
  load: Load,
  told: string[],
): Promise<void> {
  const [nextFault, nextAct] = [drawing(faults, random), actsOf(fleet, random, load, told)]
  /** The faults that may not be over yet. */
  let struck: { readonly member: Member; readonly over: Promise<void> }[] = []
  const allOver = async () => {
    await Promise.all(struck.map(({ over }) => over))
    struck = []
  }
  let act = await nextAct()
  for (let round = 1; round <= rounds && !load.isOver; round++) {
    if (round > 1 && round % roundsPerAct === 1) {
      await allOver()
      await act.end()
      act = await nextAct()
    }
    const [fault, member] = [nextFault(), act.nextMember()]
    if (random() >= overlapShare || struck.some((last) => last.member === member)) await allOver()
    const { served } = load
    told.push(`round ${round}: ${fault.name} at ${member.name}`)
    const over = fault.strike(member, fleet, random, load)
    struck.push({ member, over })
    await Promise.race([over, sleep(between(random, 0, leaseMs))])
    await sleep(between(random, 0, 1_000))
    // However slow the machine is, there are payments in each round.
    await until(() => load.served >= served + servedPerRound || load.isOver)
  }
  await allOver()
  await act.end()
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
    load.underWay.add(payment)
    await ask(net, '/verify', payment.body)
    if (choose() < 0.3) await Promise.all([present(net, payment), present(net, payment)])
    // Which of two answers came first says nothing.
    payment.answers.sort((one, other) => Number(isGranted(one)) - Number(isGranted(other)))
    if (!payment.answers.some(isGranted)) await presentUntilServed(net, payment)
    load.underWay.delete(payment)
    load.served += 1
    await sleep(choose() * pauseMsMax)
  }
}

/** A permit is stale for a moment when a reorg has taken the burn before it, and good again once a block holds that. */
async function presentUntilServed(net: CrashNetwork, payment: MadePayment): Promise<void> {
  while ((await presentUntilAnswered(net, payment)).errorReason === 'permit_nonce_stale') await sleep(blockMs)
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
      const load: Load = {
        payments: [],
        balances: new Map(),
        underWay: new Set(),
        served: 0,
        kills: 0,
        cutOffs: 0,
        grantedTwice: 0,
        isOver: false,
      }
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
        const active = await fleet.active()
        const openGrants = await expectGrantsAreRemembered({ ...fleet, url: active.url }, payments)
        await fleet.auditAt(active.url())
        await judge()
        // A daemon that dies has at most one answer to each payer that it did not record (ADR 0002).
        expect(openGrants, 'answers that nobody recorded').toBeLessThanOrEqual(payers * load.kills)
        expect(load.grantedTwice).toBeLessThanOrEqual(load.cutOffs)
        const relayed = payments.filter(({ mode }) => mode === 'permit').length
        process.stdout.write(
          `${rounds} rounds, ${payments.length} payments (${relayed} relayed), ${openGrants} answers written at the instant of a kill, ${load.grantedTwice} granted again behind a cut\n`,
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
