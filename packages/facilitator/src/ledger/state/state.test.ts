import { join } from 'node:path'
import type { ChallengeNonce, Payload } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { type FailingDisk, openFailingDisk } from '../../../test/failing-disk.js'
import { temporaryFolder } from '../../../test/folder.js'
import { readEvent, toFields } from '../events/event-line.js'
import { createJournal } from '../journal/journal.js'
import { fieldsOf } from '../journal/line.js'
import { replayFile } from '../journal/replay.js'
import { createLedger, type EventLedger } from '../ledger.js'
import { openLedger } from '../open.js'
import { createLedgerState, type LedgerState } from './state.js'

const challenges = 6
const retention = 3600
const unmatchedMax = { perChallenge: 2, total: 4 }

/** A step of a caller, on one of a few challenges. */
type Step = { readonly act: keyof typeof acts; readonly on: number; readonly choice: boolean }

const challengeAt = (on: number) =>
  challengeOf(on + 1, { fee: { amount: units(BigInt(on + 1)), bps: 10, chargeTo: 'payer' } })
const payloadFor = (on: number, isPermit: boolean): Payload.Payload =>
  isPermit
    ? permitPayloadOf(challengeAt(on), { payer: addressOf(100 + (on % 3)) })
    : selfTransferOf(challengeAt(on), 50 + on)

let transactions = 0

/** Each does what the payment flow may do at that point, and nothing otherwise. */
const acts = {
  async issue(ledger: EventLedger, on: number) {
    if (!(await ledger.find(nonceOf(on + 1)))) await ledger.issue(challengeAt(on))
  },
  async claim(ledger: EventLedger, on: number, choice: boolean) {
    const payment = await ledger.find(nonceOf(on + 1))
    if (payment && !payment.claim) await ledger.claim(nonceOf(on + 1), payloadFor(on, choice))
  },
  async sign(ledger: EventLedger, on: number, choice: boolean) {
    const nonces: ChallengeNonce[] = []
    for (const other of choice ? [on, (on + 1) % challenges] : [on]) {
      const isPermit = ({ challenge }: { challenge: { nonce: string } }) =>
        challenge.nonce === nonceOf(other + 1)
      const { transactions: carried, unsigned } = await ledger.interrupted()
      if ([...unsigned, ...carried.flatMap(({ items }) => items)].some(isPermit))
        nonces.push(nonceOf(other + 1))
    }
    transactions += 1
    const transaction = { txNonce: transactions, hash: hashOf(1000 + transactions), raw: '0x02' } as const
    if (nonces.length > 0) await ledger.recordSigned(transaction, nonces)
  },
  async release(ledger: EventLedger, on: number) {
    const payment = await ledger.find(nonceOf(on + 1))
    if (payment?.claim && !payment.accepted) await ledger.release(nonceOf(on + 1))
  },
  async accept(ledger: EventLedger, on: number) {
    const payment = await ledger.find(nonceOf(on + 1))
    if (payment?.claim) await ledger.accept(nonceOf(on + 1), burnOf(on))
  },
  async late(ledger: EventLedger, on: number, choice: boolean) {
    const payment = await ledger.find(nonceOf(on + 1))
    const isFree = payment && (!payment.claim || payment.accepted)
    const larger = { ...burnOf(on + 50), value: units(1500n) }
    if (isFree && choice) await ledger.recordLate(challengeAt(on), larger, 'second')
    if (isFree && !choice) await ledger.recordLate(challengeAt(on), burnOf(on), 'late')
  },
  async unmatched(ledger: EventLedger, on: number, choice: boolean) {
    const payment = await ledger.find(nonceOf(on + 1))
    const txHash = hashOf(choice ? 80 : 81)
    if (payment) await ledger.recordUnmatched(nonceOf(on + 1), { txHash, reason: 'burn_split' })
  },
  async demote(ledger: EventLedger, on: number) {
    await ledger.demote(nonceOf(on + 1))
  },
  async move(ledger: EventLedger, on: number) {
    const payment = await ledger.books.find(nonceOf(on + 1))
    const burn = payment?.accepted?.burn ?? payment?.late
    if (burn) await ledger.moveBurn(nonceOf(on + 1), { ...burn, leafIndex: burn.leafIndex + 1n })
  },
  async signMint(ledger: EventLedger, on: number, choice: boolean) {
    const nonces = choice ? [nonceOf(on + 1), nonceOf(((on + 1) % challenges) + 1)] : [nonceOf(on + 1)]
    transactions += 1
    const transaction = { txNonce: transactions, hash: hashOf(1000 + transactions), raw: '0x02' } as const
    await ledger.recordMintSigned(transaction, nonces)
  },
  async finalize(ledger: EventLedger, on: number, choice: boolean) {
    const payment = await ledger.books.find(nonceOf(on + 1))
    if (!payment?.accepted && !payment?.late) return
    const found = choice ? { txHash: hashOf(70 + on), blockNumber: 9n } : {}
    // The mint of the smaller burn, though a larger one may have replaced it.
    await ledger.finalize(nonceOf(on + 1), { value: units(1000n), ...found }, units(choice ? 1500n : 1000n))
  },
  async grant(ledger: EventLedger, on: number, choice: boolean) {
    const payment = await ledger.find(nonceOf(on + 1))
    if (!payment?.accepted) return
    const grant = await ledger.takeGrant(nonceOf(on + 1), 1_000)
    if (typeof grant === 'object') await (choice ? grant.use() : grant.giveBack())
  },
}

const anySteps = fc.array(
  fc.record({
    act: fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[])),
    on: fc.nat({ max: challenges - 1 }),
    choice: fc.boolean(),
  }),
  { maxLength: 60 },
)

const apply = (ledger: EventLedger, { act, on, choice }: Step) => acts[act](ledger, on, choice)

async function sorted<T extends { challenge: { nonce: string } }>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list.sort((a, b) => (a.challenge.nonce < b.challenge.nonce ? -1 : 1))
}

/** Everything the flow can see of a ledger. */
async function view(ledger: EventLedger) {
  const payments = []
  for (let on = 0; on < challenges; on++) {
    const payment = await ledger.find(nonceOf(on + 1))
    // Whether a payload is still kept, and which, shows in what was interrupted.
    const { identity, ticketed, txHash } = payment?.claim ?? {}
    payments.push({
      ...payment,
      claim: { identity, ticketed, txHash },
    })
  }
  const accepted = payments.filter((payment) => payment.accepted ?? payment.demoted)
  const fees = accepted.reduce((sum, { challenge }) => sum + (challenge?.fee?.amount ?? 0n), 0n)
  expect(ledger.acceptedFees()).toBe(fees)
  return {
    payments,
    open: ledger.openCount(),
    size: ledger.size(),
    interrupted: await ledger.interrupted(),
    unmatched: [...(await ledger.books.unmatched(100))].sort((a, b) =>
      `${a.challengeNonce}${a.txHash}` < `${b.challengeNonce}${b.txHash}` ? -1 : 1,
    ),
    awaitingMint: await sorted(ledger.awaitingMint()),
    demoted: await sorted(ledger.demoted()),
  }
}

const linesOf = (state: LedgerState) =>
  [...state.shortest().events()].map((event) => JSON.stringify(toFields(event))).sort()

const binding = { chainId: 31337, token: addressOf(7) }

describe('a ledger behind a journal', () => {
  it('is the same after every restart, whatever happened before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anySteps, { minLength: 1, maxLength: 3 }), async (runs) => {
        const clock = stoppedClock()
        const open = () =>
          openLedger({
            journal,
            binding,
            clock,
            openMax: 100,
            expiredRetentionSeconds: retention,
            unmatchedMax,
            onJournalFailure: () => undefined,
          })
        const journal = join(temporaryFolder(), 'journal')
        let opened = await open()
        for (const steps of runs) {
          for (const step of steps) await apply(opened.ledger, step)
          const before = await view(opened.ledger)
          await opened.close()
          // The first start reads what was written step by step, the second what the first made of it.
          for (let start = 0; start < 2; start++) {
            opened = await open()
            expect(await view(opened.ledger)).toEqual(before)
            await opened.compact(0)
            if (start === 0) await opened.close()
          }
        }
        await opened.close()
      }),
      { numRuns: 60 },
    )
  })

  it('is the same after a restart although steps were taken while its journal was written anew', async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, anySteps, async (first, meanwhile) => {
        const options = {
          journal: join(temporaryFolder(), 'journal'),
          binding,
          clock: stoppedClock(),
          openMax: 100,
          expiredRetentionSeconds: retention,
          unmatchedMax,
          onJournalFailure: () => undefined,
        }
        let opened = await openLedger(options)
        for (const step of first) await apply(opened.ledger, step)
        await opened.close()
        opened = await openLedger(options)
        const half = meanwhile.length / 2
        for (const step of meanwhile.slice(0, half)) await apply(opened.ledger, step)
        // Asked for again and again, so that it begins in the middle of steps.
        let isOver = false
        const compacting = (async () => {
          while (!isOver) await opened.compact(0).then(() => new Promise(setImmediate))
        })()
        const { ledger } = opened
        const rest = meanwhile.slice(half)
        // Side by side, but those of one payment in turn, as the flow takes them.
        const lane = async (number: number) => {
          for (const step of rest.filter(({ on }) => on % 3 === number)) {
            await apply(ledger, step.act.startsWith('sign') ? { ...step, choice: false } : step)
          }
        }
        await Promise.all([0, 1, 2].map(lane))
        isOver = true
        await compacting
        const before = await view(opened.ledger)
        await opened.close()
        opened = await openLedger(options)
        expect(await view(opened.ledger)).toEqual(before)
        await opened.close()
      }),
      { numRuns: 60 },
    )
  })

  it('forgets at a start what it would have forgotten anyway, and nothing that was claimed or came late', async () => {
    const clock = stoppedClock()
    const options = {
      binding,
      journal: join(temporaryFolder(), 'journal'),
      clock,
      openMax: 100,
      expiredRetentionSeconds: retention,
      unmatchedMax,
      onJournalFailure: () => undefined,
    }
    const first = await openLedger(options)
    for (let on = 0; on < 3; on++) await first.ledger.issue(challengeAt(on))
    await first.ledger.claim(nonceOf(2), payloadFor(1, true))
    await first.ledger.recordLate(challengeAt(2), burnOf(2), 'late')
    await first.close()
    clock.advance((300 + retention) * 1000)
    const second = await openLedger(options)
    expect(await second.ledger.find(nonceOf(1))).toBeUndefined()
    expect(await second.ledger.find(nonceOf(2))).toMatchObject({ claim: {} })
    expect(await second.ledger.find(nonceOf(3))).toMatchObject({ late: burnOf(2) })
    await second.close()
  })
})

describe('fault 5 a ledger whose journal fails', () => {
  async function openOnFailingDisk() {
    const path = join(temporaryFolder(), 'journal')
    const disk = await openFailingDisk(path)
    const journal = createJournal({ file: disk, bytes: 0, nextSeq: 1, onFailure: () => undefined })
    const state = createLedgerState()
    const ledger = createLedger({
      state,
      log: { append: (event) => journal.append(toFields(event)), durable: journal.durable },
      clock: stoppedClock(),
      openMax: 100,
      expiredRetentionSeconds: retention,
      unmatchedMax,
    })
    return { path, disk, journal, state, ledger }
  }

  const failing = async (disk: FailingDisk, work: () => Promise<unknown>) => {
    disk.syncFails = true
    await expect(work()).rejects.toMatchObject({ code: 'journal_failed' })
    disk.syncFails = false
  }

  it('a challenge that could not be recorded was not issued', async () => {
    const { disk, ledger } = await openOnFailingDisk()
    await failing(disk, () => ledger.issue(challengeAt(0)))
    expect(await ledger.find(nonceOf(1))).toBeUndefined()
    expect(ledger.openCount()).toBe(0)
    expect(await ledger.issue(challengeAt(0))).toBe('issued')
  })

  it('a claim that could not be recorded is undone, for its challenge and for its permit nonce', async () => {
    const { disk, ledger } = await openOnFailingDisk()
    await ledger.issue(challengeAt(0))
    await ledger.issue(challengeAt(3))
    await failing(disk, () => ledger.claim(nonceOf(1), payloadFor(0, true)))
    expect((await ledger.find(nonceOf(1)))?.claim).toBeUndefined()
    expect(ledger.openCount()).toBe(2)
    // The other challenge is paid by the same payer with the same permit nonce.
    expect(await ledger.claim(nonceOf(4), payloadFor(3, true))).toBe('claimed')
  })

  it('who presents the same payload while its claim fails is refused with it', async () => {
    const { disk, ledger } = await openOnFailingDisk()
    await ledger.issue(challengeAt(0))
    disk.syncFails = true
    const claims = await Promise.allSettled([
      ledger.claim(nonceOf(1), payloadFor(0, true)),
      ledger.claim(nonceOf(1), payloadFor(0, true)),
    ])
    expect(claims.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('what could not be recorded as accepted or released is neither', async () => {
    const { disk, ledger } = await openOnFailingDisk()
    await ledger.issue(challengeAt(0))
    await ledger.claim(nonceOf(1), payloadFor(0, true))
    await failing(disk, () => ledger.accept(nonceOf(1), burnOf(1)))
    expect((await ledger.find(nonceOf(1)))?.accepted).toBeUndefined()
    await failing(disk, () => ledger.release(nonceOf(1)))
    expect((await ledger.find(nonceOf(1)))?.claim).toBeDefined()
    expect(await ledger.accept(nonceOf(1), burnOf(1))).toBe('accepted')
  })

  it('a used grant is used even if the disk refuses, and is recorded with the next one', async () => {
    const { path, disk, ledger } = await openOnFailingDisk()
    for (const on of [0, 1]) {
      await ledger.issue(challengeAt(on))
      await ledger.claim(nonceOf(on + 1), payloadFor(on, true))
      await ledger.accept(nonceOf(on + 1), burnOf(on))
    }
    const [first, second] = [
      await ledger.takeGrant(nonceOf(1), 1_000),
      await ledger.takeGrant(nonceOf(2), 1_000),
    ]
    if (typeof first === 'string' || typeof second === 'string') throw new Error('nobody used a grant')
    await failing(disk, first.use)
    expect(await ledger.takeGrant(nonceOf(1), 1_000)).toBe('used')
    await second.use()
    const granted: unknown[] = []
    await replayFile(path, (line) => {
      const { event, nonce } = fieldsOf(line)
      if (event === 'grant_used') granted.push(nonce)
    })
    expect(granted.sort()).toEqual([nonceOf(1), nonceOf(2)])
  })

  it('memory and disk agree after any mixture of steps and failures', async () => {
    const anyTrouble = fc.array(fc.boolean(), { minLength: 60, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(anySteps, anyTrouble, async (steps, troubles) => {
        const { path, disk, journal, state, ledger } = await openOnFailingDisk()
        for (const [i, step] of steps.entries()) {
          disk.syncFails = troubles[i] === true
          await apply(ledger, step).catch((error: { code: string }) => {
            if (error.code !== 'journal_failed') throw error
          })
        }
        disk.syncFails = false
        // One more payment, whole: it cuts off what failed and brings every grant along.
        for (const act of ['issue', 'claim', 'accept', 'grant'] as const) {
          await acts[act](ledger, challenges, true)
        }
        await journal.close()
        const replayed = createLedgerState()
        await replayFile(path, (line) => replayed.apply(readEvent(line)))
        expect(linesOf(replayed)).toEqual(linesOf(state))
      }),
      { numRuns: 80 },
    )
  })

  it('is refused for another chain or token, and for another helper while burns are under way', async () => {
    const path = join(temporaryFolder(), 'journal.jsonl')
    const open = (wanted: Parameters<typeof openLedger>[0]['binding']) =>
      openLedger({
        journal: path,
        binding: wanted,
        clock: stoppedClock(),
        openMax: 10,
        expiredRetentionSeconds: retention,
        unmatchedMax,
        onJournalFailure: () => undefined,
      })
    const bound = { ...binding, helper: addressOf(8) }
    const first = await open(bound)
    const challenge = challengeOf(1)
    await first.ledger.issue(challenge)
    await first.close()
    await expect(open({ ...bound, chainId: 1 })).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(open({ ...bound, token: addressOf(9) })).rejects.toMatchObject({ code: 'config_invalid' })
    // Nothing is under way: a new helper is as good as the old one.
    const second = await open({ ...bound, helper: addressOf(10) })
    await second.ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await second.ledger.recordSigned({ txNonce: 0, hash: hashOf(1), raw: '0x02' }, [challenge.nonce])
    await second.close()
    await expect(open(bound)).rejects.toMatchObject({ code: 'config_invalid' })
    await (await open({ ...bound, helper: addressOf(10) })).close()
  })
})
