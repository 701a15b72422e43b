import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { burnOf, challengeOf, permitPayloadOf } from '../../test/challenges.js'
import type { EventLog } from './core.js'
import type { LedgerEvent } from './events/events.js'
import { createLedger } from './ledger.js'
import { createLedgerState } from './state/state.js'

const challenge = challengeOf(1)
const { nonce } = challenge

/** A ledger whose journal is written when a test says so, and what a start would make of that journal. */
function setup() {
  const written: LedgerEvent[] = []
  const waiting: (() => void)[] = []
  let isHeld = false
  const log: EventLog = {
    async append(event) {
      written.push(event)
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    durable: async () => undefined,
  }
  const options = {
    clock: stoppedClock(),
    openMax: 10,
    expiredRetentionSeconds: 3600,
    unmatchedMax: { perChallenge: 2, total: 4 },
  }
  const opened = (events: Iterable<LedgerEvent>) => {
    const state = createLedgerState()
    for (const event of events) state.apply(event)
    return { state, ledger: createLedger({ state, log, ...options }) }
  }
  const { state, ledger } = opened([])
  return {
    ledger,
    written,
    opened,
    hold: () => {
      isHeld = true
    },
    write: () => {
      isHeld = false
      for (const next of waiting.splice(0)) next()
    },
    /** After a start, and after a start on the journal written anew. */
    restarted: () => [opened(written).ledger, opened(state.shortest().events()).ledger],
  }
}

async function claimed() {
  const made = setup()
  await made.ledger.issue(challenge)
  await made.ledger.claim(nonce, permitPayloadOf(challenge))
  return made
}

async function useGrant(ledger: ReturnType<typeof setup>['ledger']) {
  const grant = await ledger.takeGrant(nonce, 1_000)
  if (typeof grant === 'string') throw new Error('nobody used it')
  await grant.use()
}

describe('a burner that says a burn failed after somebody else saw it', () => {
  it.each([true, false])('releases nothing, and nothing is written; the grant used: %s', async (granted) => {
    const { ledger, written, restarted } = await claimed()
    await ledger.accept(nonce, burnOf(1))
    if (granted) await useGrant(ledger)
    const lines = written.length
    expect(await ledger.release(nonce)).toBe('kept')
    expect(written).toHaveLength(lines)
    for (const each of [ledger, ...restarted()]) {
      expect(await each.find(nonce)).toMatchObject({ claim: {}, accepted: { burn: burnOf(1) } })
      expect((await each.find(nonce))?.granted).toBe(granted)
    }
  })

  it('releases nothing either when both are on their way to the disk', async () => {
    const { ledger, hold, write, restarted } = await claimed()
    hold()
    const ends = [ledger.accept(nonce, burnOf(1)), ledger.release(nonce)]
    write()
    expect(await Promise.all(ends)).toEqual(['accepted', 'kept'])
    for (const each of [ledger, ...restarted()]) {
      expect(await each.find(nonce)).toMatchObject({ claim: {}, accepted: { burn: burnOf(1) } })
    }
  })

  it('does not release a payment whose burn a reorg took', async () => {
    const { ledger } = await claimed()
    await ledger.accept(nonce, burnOf(1))
    await ledger.demote(nonce)
    expect(await ledger.release(nonce)).toBe('kept')
    expect(await ledger.find(nonce)).toMatchObject({ claim: {}, demoted: { burn: burnOf(1) } })
  })
})

describe('a burn that is seen after its claim was released', () => {
  it('buys nothing, and is minted all the same when it was on its way to the disk', async () => {
    const { ledger, hold, write, restarted } = await claimed()
    hold()
    const ends = [ledger.release(nonce), ledger.accept(nonce, burnOf(1))]
    write()
    expect(await Promise.all(ends)).toEqual(['released', 'not_claimed'])
    expect(ledger.openCount()).toBe(0)
    for (const each of [ledger, ...restarted()]) {
      const payment = await each.books.find(nonce)
      expect(payment).toMatchObject({ late: burnOf(1), lateReason: 'unrecorded' })
      expect([payment?.claim, payment?.accepted]).toEqual([undefined, undefined])
    }
  })

  it('is not written at all when nobody claims the challenge', async () => {
    const { ledger, written } = await claimed()
    await ledger.release(nonce)
    const lines = written.length
    expect(await ledger.accept(nonce, burnOf(1))).toBe('not_claimed')
    expect(written).toHaveLength(lines)
  })
})

describe('a journal in which an older version released what was accepted', () => {
  it.each([true, false])('starts, and the payment is accepted; its grant used: %s', async (granted) => {
    const { ledger, written, opened } = await claimed()
    await ledger.accept(nonce, burnOf(1))
    if (granted) await useGrant(ledger)
    const { state, ledger: next } = opened([...written, { event: 'claim_released', nonce }])
    for (const each of [next, opened(state.shortest().events()).ledger]) {
      expect(await each.find(nonce)).toMatchObject({ claim: {}, accepted: { burn: burnOf(1) } })
      expect(await each.claim(nonce, permitPayloadOf(challenge, { nonce: 2n }))).toBe('other_payload')
    }
  })
})

describe('a transfer that covers nothing', () => {
  it('is kept beside a payment that ended in full, also when the journal is written anew', async () => {
    const { ledger, restarted } = await claimed()
    await ledger.accept(nonce, burnOf(1))
    await useGrant(ledger)
    const { value } = burnOf(1)
    await ledger.finalize(nonce, { value }, value)
    const transfer = { txHash: burnOf(7).txHash, reason: 'burn_underpaid' } as const
    expect(await ledger.recordUnmatched(nonce, transfer)).toBe('recorded')
    for (const each of [ledger, ...restarted()]) {
      expect(await each.books.unmatched(9)).toMatchObject([{ challengeNonce: nonce, ...transfer }])
      expect(await each.books.find(nonce)).toMatchObject({ accepted: {}, finalized: {} })
    }
  })
})

describe('a burn that a settle and the follower of the chain see at the same moment', () => {
  it('is accepted for the first of them, and recorded once', async () => {
    const { ledger, written, hold, write, restarted } = await claimed()
    hold()
    const both = Promise.all([ledger.accept(nonce, burnOf(1)), ledger.accept(nonce, burnOf(1))])
    await new Promise((resolve) => setImmediate(resolve))
    write()
    expect(await both).toEqual(['accepted', 'already_accepted'])
    expect(written.filter(({ event }) => event === 'payment_accepted')).toHaveLength(1)
    for (const after of restarted()) {
      expect(await after.find(nonce)).toMatchObject({ accepted: { burn: burnOf(1) } })
    }
  })
})
