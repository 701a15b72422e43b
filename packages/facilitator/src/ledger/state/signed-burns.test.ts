import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, hashOf, nonceOf, permitPayloadOf, seconds } from '../../../test/challenges.js'
import type { Burn } from '../../payment/records.js'
import { claimedPayload, type LedgerEvent } from '../events/events.js'
import { interruptedIn } from './interrupted.js'
import { createLedgerState, type LedgerState } from './state.js'

const keep = { blocks: 10, paymentsMax: 3 }
const transactionOf = (txNonce: number, form = 0) => ({
  txNonce,
  hash: hashOf(1_000 + 10 * txNonce + form),
  raw: `0x0${txNonce}` as const,
})
const burnIn = (seed: number, blockNumber: bigint): Burn => ({
  ...burnOf(seed),
  txHash: transactionOf(seed).hash,
  blockNumber,
})

/** A payment that was relayed in a transaction of its own, accepted and granted. */
function relayed(seed: number, blockNumber: bigint): LedgerEvent[] {
  const challenge = challengeOf(seed)
  const { nonce } = challenge
  const payload = claimedPayload(permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  return [
    { event: 'challenge_issued', challenge },
    { event: 'payment_claimed', nonce, identity: `${seed}`.padStart(32, '0'), ticketed: true, payload },
    { event: 'burn_signed', nonces: [nonce], transaction: transactionOf(seed) },
    { event: 'payment_accepted', nonce, burn: burnIn(seed, blockNumber), at: seconds(1_700_000_010) },
    { event: 'grant_used', nonce },
  ]
}

function stateAfter(events: Iterable<LedgerEvent>, kept = keep): LedgerState {
  const state = createLedgerState(kept)
  for (const event of events) state.apply(event)
  return state
}

/** The same after a compaction and a restart. */
const restarted = (state: LedgerState, kept = keep) => stateAfter(state.shortest().events(), kept)

const watchedIn = (state: LedgerState) =>
  interruptedIn(state).shallow.map(({ transactions, items, block }) => ({
    hashes: transactions.map(({ hash }) => hash),
    nonces: items.map(({ challenge }) => challenge.nonce),
    block: block.blockNumber,
  }))

describe('signed burns of accepted payments', () => {
  it('are kept until they are deep, over compactions and restarts', () => {
    let state = stateAfter([...relayed(1, 100n), ...relayed(2, 105n)])
    for (let restart = 0; restart < 3; restart++) {
      expect(watchedIn(state)).toEqual([
        { hashes: [transactionOf(1).hash], nonces: [nonceOf(1)], block: 100n },
        { hashes: [transactionOf(2).hash], nonces: [nonceOf(2)], block: 105n },
      ])
      expect(interruptedIn(state)).toMatchObject({ transactions: [], unsigned: [], transfers: [] })
      expect(state.find(nonceOf(1))).toMatchObject({ accepted: { burn: burnIn(1, 100n) }, granted: true })
      state = restarted(state)
    }
    for (const event of relayed(3, 110n)) state.apply(event)
    expect(watchedIn(state).map(({ block }) => block)).toEqual([105n, 110n])
    // A payment whose burn is deep has ended, and is packed in the archive.
    expect(state.endedCounts().accepted).toBe(1)
    expect(restarted(state).endedCounts().accepted).toBe(1)
  })

  it('are kept of so many payments at most, the newest', () => {
    const state = stateAfter([1, 2, 3, 4, 5].flatMap((seed) => relayed(seed, 100n)))
    expect(watchedIn(state).flatMap(({ nonces }) => nonces)).toEqual([nonceOf(3), nonceOf(4), nonceOf(5)])
    expect(state.endedCounts().accepted).toBe(2)
  })

  it('are kept in all forms of the transaction that holds the burn, and of no other', () => {
    const [issued, claimed, signed, accepted] = relayed(1, 100n) as [
      LedgerEvent,
      LedgerEvent,
      LedgerEvent,
      LedgerEvent,
    ]
    const raised: LedgerEvent = {
      event: 'burn_signed',
      nonces: [nonceOf(1)],
      transaction: transactionOf(1, 1),
    }
    const displaced: LedgerEvent = {
      event: 'burn_signed',
      nonces: [nonceOf(1)],
      transaction: transactionOf(0),
    }
    const state = stateAfter([issued, claimed, displaced, signed, raised, accepted])
    const hashes = [transactionOf(1).hash, transactionOf(1, 1).hash]
    expect(watchedIn(state)).toMatchObject([{ hashes }])
    expect(watchedIn(restarted(state))).toMatchObject([{ hashes }])
    const elsewhere = { ...accepted, burn: { ...burnIn(1, 100n), txHash: hashOf(9) } } as LedgerEvent
    expect(watchedIn(stateAfter([issued, claimed, signed, elsewhere]))).toEqual([])
  })

  it('are under way again when a reorg took the burn back, also for the next run', () => {
    const demoted: LedgerEvent = { event: 'payment_demoted', nonce: nonceOf(1) }
    const state = stateAfter([...relayed(1, 100n), demoted])
    for (const each of [state, restarted(state)]) {
      expect(watchedIn(each)).toEqual([])
      expect(interruptedIn(each).transactions).toMatchObject([
        { transactions: [transactionOf(1)], items: [{ challenge: { nonce: nonceOf(1) } }] },
      ])
      expect(each.find(nonceOf(1))).toMatchObject({ demoted: { burn: burnIn(1, 100n) }, granted: true })
    }
  })

  it('keep a mint that came before they were deep', () => {
    const finalized = { mint: { value: burnOf(1).value }, at: seconds(1_700_000_020) }
    const state = stateAfter([
      ...relayed(1, 100n),
      { event: 'payment_finalized', nonce: nonceOf(1), ...finalized },
    ])
    expect(restarted(state).find(nonceOf(1))?.finalized).toEqual(finalized)
  })

  it('are not kept where nothing is watched: such a state is that of a journal of before', () => {
    const none = { blocks: 0, paymentsMax: 3 }
    const state = stateAfter(relayed(1, 100n), none)
    expect(watchedIn(state)).toEqual([])
    expect([...state.shortest().events()].map(({ event }) => event)).toEqual(['payment_recorded'])
  })
})
