/**
 * Tests that every ledger must pass, whatever its storage. `open` gives a fresh ledger with room for two open challenges.
 * `reopen` closes it and opens it again from its storage, if it has one.
 */
import { describe, expect, it } from 'vitest'
import { limits } from '../src/config/limits.js'
import type { Ledger } from '../src/payment/ledger-port.js'
import type { Challenge } from '../src/payment/records.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf, selfTransferOf, units } from './challenges.js'

export type LedgerUnderTest = {
  readonly ledger: Ledger
  advance(ms: number): void
  /** Absent for a ledger without storage. */
  reopen?(): Promise<LedgerUnderTest>
  close(): Promise<void>
}

export const behaviourSettings = {
  openMax: 2,
  openOfSellers: new Map<string, number>(),
  expiredRetentionSeconds: 3600,
  unmatchedMax: { perChallenge: 1, total: 10 },
  foundPerAddressMax: 4,
}

const [first, second] = [challengeOf(1), challengeOf(2)]
const { nonce } = first
const signed = (txNonce: number) =>
  ({ txNonce, hash: burnOf(txNonce).txHash, raw: '0x02', from: addressOf(0xb0) }) as const

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

async function accepted(ledger: Ledger, challenge: Challenge = first) {
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
  return ledger.accept(challenge.nonce, burnOf(1))
}

async function grantOf(ledger: Ledger) {
  const grant = await ledger.takeGrant(nonce, 1_000)
  if (typeof grant === 'string') throw new Error(`the grant is ${grant}`)
  return grant
}

export function describeLedger(name: string, open: () => Promise<LedgerUnderTest>): void {
  /** Runs on a fresh ledger. `check` runs before and after a restart. */
  const on = async (
    act: (under: LedgerUnderTest) => Promise<void>,
    check: (ledger: Ledger) => Promise<void> = async () => undefined,
  ) => {
    let under = await open()
    try {
      await act(under)
      await check(under.ledger)
      if (!under.reopen) return
      under = await under.reopen()
      await check(under.ledger)
    } finally {
      await under.close()
    }
  }

  describe(`the ledger ${name}`, () => {
    it('issues no more challenges than may be open, and makes room at expiry', () =>
      on(async ({ ledger, advance }) => {
        const third = challengeOf(3)
        const outcomes = await Promise.all([first, second, third].map((each) => ledger.issue(each)))
        expect(outcomes).toEqual(['issued', 'issued', 'limit'])
        expect(await ledger.find(third.nonce)).toBeUndefined()
        advance(300_000)
        expect(await ledger.issue(third)).toBe('issued')
      }))

    it('issues none during a pause, also when the cap is reached', () =>
      on(
        async ({ ledger }) => {
          await ledger.issue(first)
          await ledger.setPause({ words: 'back at noon' })
          expect(await ledger.pause()).toEqual({ words: 'back at noon' })
          expect(await ledger.issue(second)).toEqual({ words: 'back at noon' })
          await ledger.setPause(undefined)
          expect(await ledger.issue(second)).toBe('issued')
          await ledger.setPause({})
        },
        async (ledger) => {
          expect(await ledger.pause()).toEqual({})
          expect(await ledger.issue(challengeOf(3))).toEqual({})
        },
      ))

    it('finds a challenge until its retention ends, and then refuses to have it claimed', () =>
      on(async ({ ledger, advance }) => {
        await ledger.issue(first)
        expect(await ledger.find(nonce)).toMatchObject({ challenge: first, granted: false })
        advance(300_000 + 3_600_000)
        expect(await ledger.find(nonce)).toBeUndefined()
        expect(await ledger.claim(nonce, permitPayloadOf(first))).toBe('forgotten')
      }))

    it('has a payer wait for each of its burns that failed, and tells so with what it presents', () =>
      on(
        async ({ ledger }) => {
          await ledger.issue(first)
          await Promise.all([ledger.burnFailed(addressOf(1)), ledger.burnFailed(addressOf(1))])
        },
        async (ledger) => {
          const { payer } = await ledger.presented(permitPayloadOf(first, { payer: addressOf(1) }))
          // The clock of a server goes on.
          for (const waitMs of [payer?.waitMs, (await ledger.ofPayer(addressOf(1))).waitMs]) {
            expect(waitMs).toBeGreaterThan(limits.payerWaitFirstMs)
            expect(waitMs).toBeLessThanOrEqual(2 * limits.payerWaitFirstMs)
          }
          expect((await ledger.ofPayer(addressOf(2))).waitMs).toBe(0)
        },
      ))

    it('lets one payload claim a challenge, and one challenge have a permit nonce', () =>
      on(
        async ({ ledger }) => {
          await ledger.issue(first)
          await ledger.issue(second)
          const payloads = [addressOf(1), addressOf(2), addressOf(1)].map((payer) =>
            permitPayloadOf(first, { payer }),
          )
          const outcomes = await Promise.all(payloads.map((payload) => ledger.claim(nonce, payload)))
          expect(outcomes).toEqual(['claimed', 'other_payload', 'same_payload'])
          const reused = permitPayloadOf(second, { payer: addressOf(1) })
          expect(await ledger.claim(second.nonce, reused)).toBe('permit_nonce_in_use')
        },
        async (ledger) => {
          expect(await ledger.ofPayer(addressOf(1))).toMatchObject({
            openClaims: [{ challenge: first, permitNonce: 0n }],
          })
          expect(await ledger.ofPayer(addressOf(2))).toMatchObject({ openClaims: [] })
        },
      ))

    it('frees a challenge whose claim is released, and keeps the claim of an accepted one', () =>
      on(async ({ ledger }) => {
        await ledger.issue(first)
        expect(await ledger.release(nonce)).toBe('kept')
        await ledger.claim(nonce, permitPayloadOf(first))
        expect(await ledger.release(nonce)).toBe('released')
        expect(await ledger.claim(nonce, selfTransferOf(first, 7))).toBe('claimed')
        await ledger.accept(nonce, burnOf(7))
        expect(await ledger.release(nonce)).toBe('kept')
      }))

    it('accepts the first burn of a claimed challenge and no other', () =>
      on(
        async ({ ledger }) => {
          await ledger.issue(second)
          expect(await ledger.accept(second.nonce, burnOf(2))).toBe('not_claimed')
          expect(await accepted(ledger)).toBe('accepted')
          expect(await ledger.accept(nonce, burnOf(2))).toBe('already_accepted')
        },
        async (ledger) => expect(await ledger.find(nonce)).toMatchObject({ accepted: { burn: burnOf(1) } }),
      ))

    it('gives the grant of an accepted payment to one caller at a time, and never after it was used', () =>
      on(
        async ({ ledger }) => {
          expect(await ledger.takeGrant(nonce, 1_000)).toBe('not_accepted')
          await accepted(ledger)
          const grant = await grantOf(ledger)
          expect(grant.accepted.burn).toEqual(burnOf(1))
          expect(await ledger.takeGrant(nonce, 0)).toBe('held')
          const next = ledger.takeGrant(nonce, 600_000)
          await grant.giveBack()
          const passedOn = await next
          if (typeof passedOn === 'string') throw new Error(`the grant is ${passedOn}`)
          await passedOn.use()
          await passedOn.giveBack()
        },
        async (ledger) => {
          expect(await ledger.takeGrant(nonce, 1_000)).toBe('used')
          expect((await ledger.find(nonce))?.granted).toBe(true)
        },
      ))

    it('demotes an accepted payment, which is accepted again and keeps its used grant', () =>
      on(
        async ({ ledger }) => {
          await accepted(ledger)
          await (await grantOf(ledger)).use()
          expect(await ledger.demote(nonce)).toBe('demoted')
          expect(await ledger.demote(nonce)).toBe('not_accepted')
          expect(await listOf(ledger.demoted())).toMatchObject([{ challenge: first, burn: burnOf(1) }])
          expect(await ledger.accept(nonce, burnOf(3))).toBe('accepted')
          await ledger.moveBurn(nonce, { ...burnOf(3), leafIndex: 99n })
        },
        async (ledger) => {
          const moved = { burn: { ...burnOf(3), leafIndex: 99n } }
          expect(await ledger.find(nonce)).toMatchObject({ accepted: moved, granted: true })
          expect(await listOf(ledger.demoted())).toEqual([])
        },
      ))

    it('lists a burn until its mint is recorded, once', () =>
      on(
        async ({ ledger }) => {
          await accepted(ledger)
          const { value } = burnOf(1)
          expect(await listOf(ledger.awaitingMint())).toMatchObject([{ challenge: first, burn: burnOf(1) }])
          expect(await ledger.finalize(nonce, { value }, units(1n))).toBe('outgrown')
          expect(await ledger.finalize(nonce, { value }, value)).toBe('finalized')
          expect(await ledger.finalize(nonce, { value }, value)).toBe('already_finalized')
          expect(await ledger.demote(nonce)).toBe('already_finalized')
        },
        async (ledger) => expect(await listOf(ledger.awaitingMint())).toEqual([]),
      ))

    it('keeps a late burn, unless a larger one takes its place, and a transfer that covers nothing', () =>
      on(
        async ({ ledger }) => {
          await ledger.issue(first)
          const larger = { ...burnOf(2), value: units(5_000n) }
          expect(await ledger.recordLate(first, burnOf(1), 'late')).toBe('recorded')
          expect(await ledger.recordLate(first, burnOf(1), 'late')).toBe('known')
          expect(await ledger.recordLate(first, larger, 'unrecorded')).toBe('recorded')
          const transfer = (seed: number) => ({ txHash: burnOf(seed).txHash, reason: 'burn_split' })
          expect(await ledger.recordUnmatched(nonce, transfer(8))).toBe('recorded')
          expect(await ledger.recordUnmatched(nonce, transfer(8))).toBe('known')
          expect(await ledger.recordUnmatched(nonce, transfer(9))).toBe('full')
          expect(await ledger.recordUnmatched(second.nonce, transfer(9))).toBe('forgotten')
        },
        async (ledger) =>
          expect(await listOf(ledger.awaitingMint())).toMatchObject([{ burn: { value: 5_000n } }]),
      ))

    it('tells what was under way: signed, unsigned, transferred and minting', () =>
      on(
        async ({ ledger }) => {
          await accepted(ledger)
          await ledger.recordMintSigned(signed(4), [nonce])
          await ledger.issue(second)
          await ledger.claim(second.nonce, permitPayloadOf(second, { nonce: 1n }))
          const [third, fourth] = [challengeOf(3), challengeOf(4)]
          await ledger.issue(third)
          await ledger.claim(third.nonce, permitPayloadOf(third, { nonce: 2n }))
          await ledger.recordSigned(signed(3), [third.nonce])
          await ledger.issue(fourth)
          await ledger.claim(fourth.nonce, selfTransferOf(fourth, 6))
        },
        async (ledger) => {
          const { transactions, unsigned, transfers, mints } = await ledger.interrupted()
          expect(transactions).toMatchObject([
            { transactions: [signed(3)], items: [{ challenge: challengeOf(3) }] },
          ])
          expect(unsigned).toMatchObject([{ challenge: second }])
          expect(transfers).toMatchObject([{ challenge: challengeOf(4) }])
          expect(mints).toEqual([{ transactions: [signed(4)], nonces: [nonce] }])
        },
      ))
  })
}
