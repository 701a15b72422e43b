import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf, burnOf, challengeOf, hashOf, nonceOf, units } from '../../../test/challenges.js'
import {
  createFeeLedger,
  feeChallenge,
  feeRecipient,
  finalizeWithFee,
  payWithFee,
} from '../../../test/fee-ledger.js'
import type { Challenge, OpenSweep, Sweep } from '../../payment/records.js'
import { sweepOf } from '../../payment/sweep/plan.js'

const recipients = [feeRecipient, addressOf(9)] as const
const { treasury } = challengeOf(0)
const terms = { treasury, paymentsMax: 3 }
const transaction = (txNonce: number, version = 0) =>
  ({ txNonce, hash: hashOf(5_000 + txNonce * 10 + version), raw: '0x02', from: treasury }) as const

const setup = () => createFeeLedger(stoppedClock())
type Setup = Awaited<ReturnType<typeof setup>>

const pay = ({ ledger }: Setup, challenge: Challenge, { isGranted = true } = {}) =>
  payWithFee(ledger(), challenge, isGranted)
const finalize = ({ ledger }: Setup, challenge: Challenge) => finalizeWithFee(ledger(), challenge)

const toOther = (challenge: Challenge): Challenge => ({
  ...challenge,
  ...(challenge.fee && { fee: { ...challenge.fee, recipient: recipients[1] } }),
})

async function dueIn({ ledger }: Setup) {
  const { due } = await ledger().feesDue(terms)
  return due.map((fees) => ({ ...fees, sweep: sweepOf(fees) }))
}

const done = (txNonce: number) =>
  ({ kind: 'done', txHash: transaction(txNonce).hash, blockNumber: BigInt(10 + txNonce) }) as const

describe('the ledger of fees', () => {
  it('names the oldest fees of each recipient, as many as a sweep takes, and the sum of all', async () => {
    const clock = stoppedClock()
    const under = await createFeeLedger(clock)
    const elsewhere = feeChallenge(7, 70n, { treasury: addressOf(9) })
    const all = [1, 2, 3, 4, 5].map((seed) => feeChallenge(seed, BigInt(seed)))
    const others = [toOther(feeChallenge(6, 60n)), elsewhere]
    for (const challenge of [...all, ...others]) await pay(under, challenge)
    const start = Math.floor(clock.now() / 1000)
    for (const [i, challenge] of [...all.toReversed(), ...others].entries()) {
      await finalizeWithFee(under.ledger(), challenge, BigInt(9 - i))
      clock.advance(1_000)
    }
    const { due, elsewhere: minted } = await under.ledger().feesDue(terms)
    expect(due.toSorted((a, b) => b.payments - a.payments)).toEqual([
      {
        recipient: recipients[0],
        payments: 5,
        amount: 15n,
        oldestAt: start,
        fromBlock: 5n,
        oldest: [5, 4, 3].map((seed) => ({ nonce: nonceOf(seed), amount: BigInt(seed) })),
      },
      {
        recipient: recipients[1],
        payments: 1,
        amount: 60n,
        oldestAt: start + 5,
        fromBlock: 4n,
        oldest: [{ nonce: nonceOf(6), amount: 60n }],
      },
    ])
    expect(minted).toEqual({ payments: 1, amount: 70n })
  })

  it('a fee is due once its payment is finalized, and until a sweep of it is done', async () => {
    const under = await setup()
    const [first, second] = [feeChallenge(1, 10n), feeChallenge(2, 20n)]
    await pay(under, first)
    await pay(under, second, { isGranted: false })
    expect(await dueIn(under)).toEqual([])
    await finalize(under, first)
    await finalize(under, second)
    await under.restart()
    const [due] = await dueIn(under)
    const sweep: Sweep = {
      recipient: recipients[0],
      amount: units(30n),
      challengeNonces: [nonceOf(1), nonceOf(2)],
    }
    expect(due?.sweep).toEqual(sweep)

    await under.ledger().recordSweepSigned(sweep, transaction(0))
    await under.ledger().recordSweepSigned(sweep, transaction(0, 1))
    for (const again of [under.restart, under.restart]) {
      await again()
      expect(await dueIn(under)).toEqual([])
      const open = { ...sweep, transactions: [transaction(0), transaction(0, 1)] }
      expect(await under.ledger().openSweeps()).toEqual([open])
    }
    const [open] = (await under.ledger().openSweeps()) as [OpenSweep]
    await under.ledger().endSweep(open, done(0))
    await under.ledger().endSweep(open, done(0))
    for (const again of [() => undefined, under.restart]) {
      await again()
      expect([await dueIn(under), await under.ledger().openSweeps()]).toEqual([[], []])
      const last = { recipient: recipients[0], amount: 30n, payments: 2 }
      expect(await under.ledger().swept()).toMatchObject({ sweeps: 1, payments: 2, amount: 30n, last })
    }
  })

  it('a swept payment stays swept when a second burn comes to its address', async () => {
    const under = await setup()
    const challenge = feeChallenge(1, 10n)
    await pay(under, challenge)
    await finalize(under, challenge)
    const sweep: Sweep = { recipient: recipients[0], amount: units(10n), challengeNonces: [nonceOf(1)] }
    await under.ledger().recordSweepSigned(sweep, transaction(0))
    await under.ledger().endSweep({ ...sweep, transactions: [transaction(0)] }, done(0))
    await under.ledger().recordLate(challenge, { ...burnOf(2), value: units(5_000n) }, 'unrecorded')
    for (const again of [() => undefined, under.restart]) {
      await again()
      expect(await dueIn(under)).toEqual([])
    }
  })

  it('records no sweep of anything that is not due, and no other money under the same txNonce', async () => {
    const under = await setup()
    await pay(under, feeChallenge(1, 10n))
    await pay(under, toOther(feeChallenge(2, 10n)))
    await pay(under, feeChallenge(3, 10n))
    for (const seed of [1, 2]) await finalize(under, challengeOf(seed))
    const sweepOf = (amount: bigint, ...seeds: number[]): Sweep => ({
      recipient: recipients[0],
      amount: units(amount),
      challengeNonces: seeds.map(nonceOf),
    })
    const record = (sweep: Sweep, txNonce = 0) =>
      under.ledger().recordSweepSigned(sweep, transaction(txNonce))
    await expect(record(sweepOf(11n, 1))).rejects.toThrow('a sweep of 11 for fees of 10')
    await expect(record(sweepOf(20n, 1, 1))).rejects.toThrow('a sweep of 20 for fees of 10')
    await expect(record(sweepOf(20n, 1, 2))).rejects.toThrow('is not due to')
    await expect(record(sweepOf(20n, 1, 3))).rejects.toThrow('is not due to')
    await expect(record(sweepOf(20n, 1, 4))).rejects.toThrow('is not due to')
    await expect(record(sweepOf(0n))).rejects.toThrow('a sweep of 0')
    const [kept, refused] = await Promise.allSettled([record(sweepOf(10n, 1)), record(sweepOf(10n, 1), 1)])
    expect([kept.status, refused.status]).toEqual(['fulfilled', 'rejected'])
    await expect(record(sweepOf(9n, 1))).rejects.toThrow('signed again with other fees')
    expect(await under.ledger().openSweeps()).toHaveLength(1)
  })

  it('a sweep under the txNonce of one that ended has no bytes of that one', async () => {
    const under = await setup()
    const sweeps = [1, 2].map(
      (seed): Sweep => ({ recipient: recipients[0], amount: units(10n), challengeNonces: [nonceOf(seed)] }),
    )
    for (const seed of [1, 2]) {
      await pay(under, feeChallenge(seed, 10n))
      await finalize(under, challengeOf(seed))
    }
    for (const [version, sweep] of sweeps.entries()) {
      await under.ledger().recordSweepSigned(sweep, transaction(0, version))
      await under.restart()
      const open = { ...sweep, transactions: [transaction(0, version)] }
      expect(await under.ledger().openSweeps()).toEqual([open])
      await under.ledger().endSweep(open, done(version))
      expect(await under.signedSweeps()).toEqual([])
    }
  })
})

/** One step of a history. The numbers choose payments, recipients and fees. */
type Step = { readonly kind: (typeof kinds)[number]; readonly seed: number; readonly fee: number }
const kinds = [
  ...(['pay', 'pay', 'finalize', 'finalize', 'second', 'late'] as const),
  ...(['sweep', 'mined', 'displaced', 'raised', 'found', 'restart'] as const),
]
const anyHistory = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    seed: fc.integer({ min: 1, max: 4 }),
    fee: fc.integer({ min: 0, max: 1_000 }),
  }),
  { maxLength: 60 },
)

/** Plays histories, and keeps the books of chain and fees beside the ledger. */
async function createWorld() {
  const under = await setup()
  const { ledger } = under
  /** Fees of finalized payments that no sweep has taken, by payment. */
  const due = new Map<string, { readonly amount: bigint; readonly recipient: string }>()
  const unminted = new Map<string, Challenge>()
  const known = new Set<number>()
  const sent = new Map<string, bigint>()
  let earned = 0n
  let txNonce = 0

  const take = (challengeNonces: readonly string[]) => {
    for (const nonce of challengeNonces) due.delete(nonce)
  }
  const add = (recipient: string, amount: bigint) => sent.set(recipient, (sent.get(recipient) ?? 0n) + amount)

  async function endOpen(isMined: boolean): Promise<void> {
    const [open] = await ledger().openSweeps()
    if (!open) return
    const nonce = open.transactions[0]?.txNonce ?? 0
    if (isMined) {
      add(open.recipient, open.amount)
      take(open.challengeNonces)
    }
    await ledger().endSweep(open, isMined ? done(nonce) : { kind: 'failed' })
  }

  const steps: { readonly [Kind in Step['kind']]: (step: Step) => unknown } = {
    async pay({ seed, fee }) {
      if (known.has(seed)) return
      known.add(seed)
      const challenge = seed % 2 ? toOther(feeChallenge(seed, BigInt(fee))) : feeChallenge(seed, BigInt(fee))
      await pay(under, challenge, { isGranted: seed % 3 > 0 })
      unminted.set(challenge.nonce, challenge)
    },
    async finalize({ seed }) {
      const challenge = unminted.get(nonceOf(seed))
      if (!challenge?.fee?.recipient) return
      await finalize(under, challenge)
      unminted.delete(challenge.nonce)
      const { amount, recipient } = challenge.fee
      earned += amount
      if (amount > 0n) due.set(challenge.nonce, { amount, recipient })
    },
    async second({ seed }) {
      if (!known.has(seed)) return
      await ledger().recordLate(challengeOf(seed), { ...burnOf(2), value: units(5_000n) }, 'unrecorded')
    },
    async late({ seed, fee }) {
      const challenge = feeChallenge(100 + seed, BigInt(fee))
      await ledger().recordLate(challenge, burnOf(3), 'late')
      await finalize(under, challenge)
    },
    async sweep() {
      const [first] = await dueIn(under)
      if (!first || (await ledger().openSweeps()).length > 0) return
      await ledger().recordSweepSigned(first.sweep, transaction(txNonce))
      txNonce += 1
    },
    async raised() {
      const [open] = await ledger().openSweeps()
      const nonce = open?.transactions[0]?.txNonce
      if (open && nonce !== undefined) {
        const { transactions, ...sweep } = open
        await ledger().recordSweepSigned(sweep, transaction(nonce, transactions.length))
      }
    },
    mined: () => endOpen(true),
    displaced: () => endOpen(false),
    async found() {
      const [first] = await dueIn(under)
      if (!first) return
      const { recipient, amount, challengeNonces } = first.sweep
      add(recipient, amount)
      take(challengeNonces)
      await ledger().recordSweepFound(first.sweep, { value: amount, txHash: hashOf(77), blockNumber: 9n })
    },
    restart: () => under.restart(),
  }

  async function check(): Promise<void> {
    const total = [...sent.values()].reduce((sum, amount) => sum + amount, 0n)
    const open = (await ledger().openSweeps()).reduce((sum, { amount }) => sum + amount, 0n)
    const waiting = (await dueIn(under)).reduce((sum, { amount }) => sum + amount, 0n)
    expect(total + open + waiting).toBe(earned)
    expect((await ledger().swept()).amount).toBe(total)
    for (const recipient of recipients) {
      const swept = [...due.values()].filter((fee) => fee.recipient === recipient)
      const left = swept.reduce((sum, { amount }) => sum + amount, 0n)
      const openTo = (await ledger().openSweeps()).filter((sweep) => sweep.recipient === recipient)
      const waitingFor = (await dueIn(under)).filter(({ sweep }) => sweep.recipient === recipient)
      const sum = [...openTo, ...waitingFor].reduce((all, { amount }) => all + amount, 0n)
      expect(sum).toBe(left)
    }
  }

  return { play: (step: Step) => steps[step.kind](step), check }
}

describe('over any history of payments, sweeps and restarts', () => {
  it('swept, under way and due add up to the fees of finalized payments, to the unit', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const world = await createWorld()
        for (const step of history) {
          await world.play(step)
          await world.check()
        }
        // In the end everything that is due is swept.
        for (let i = 0; i < 10; i++) {
          await world.play({ kind: 'mined', seed: 1, fee: 0 })
          await world.play({ kind: 'sweep', seed: 1, fee: 0 })
          await world.check()
        }
      }),
      { numRuns: 60 },
    )
  })
})
