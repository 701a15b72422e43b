import { accept, reject, SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf } from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { Burner, BurnOutcome } from '../ports.js'
import type { ClaimedPermit } from '../records.js'
import type { FlowEvent } from '../report.js'
import { createClaims } from './claims.js'
import type { Examine } from './examine.js'

const challenge = challengeOf(1)
const payload = permitPayloadOf(challenge)
const { nonce } = challenge
const failedWith = (reason: Parameters<typeof reject>[0]): BurnOutcome => ({
  kind: 'failed',
  rejection: reject(reason),
})
const burnedAgain: BurnOutcome = { kind: 'burned', burn: burnOf(9) }

/** An accepted payment in a real ledger; the burner answers what a test tells it to, one outcome for each try. */
async function setup(outcomes: readonly BurnOutcome[]) {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 9, expiredRetentionSeconds: 3600 })
  await ledger.issue(challenge)
  await ledger.claim(nonce, payload)
  await ledger.accept(nonce, burnOf(5))
  const events: FlowEvent[] = []
  const pauses: number[] = []
  const [draining, closing] = [new AbortController(), new AbortController()]
  const left = [...outcomes]
  let listener: Parameters<Burner['onReorged']>[0] = () => undefined
  const next = async () => left.shift() ?? failedWith('burn_failed')
  const world = {
    onPause: async (): Promise<void> => undefined,
    examined: accept({ verdict: 'burnable' } as never) as Awaited<ReturnType<Examine['permit']>>,
    isLost: false,
    resume: (() => []) as Burner['resume'],
  }
  const claims = createClaims({
    burner: {
      burn: next,
      find: next,
      resume: (interrupted) => world.resume(interrupted),
      watch: () => undefined,
      onReorged: (each) => {
        listener = each
      },
    },
    ledger,
    examine: {
      permit: async () => world.examined,
      isLost: async () => world.isLost,
      selfTransfer: async () => reject('burn_not_found'),
    },
    clock: {
      ...clock,
      sleep: async (ms) => {
        pauses.push(ms)
        await world.onPause()
      },
    },
    report: (event) => events.push(event),
    retryMs: { first: 1_000, max: 3_000 },
    draining: draining.signal,
    closing: closing.signal,
  })
  return {
    world,
    clock,
    ledger,
    claims,
    pauses,
    draining,
    closing,
    left,
    named: (name: FlowEvent['event']) => events.filter(({ event }) => event === name),
    async reorg(): Promise<void> {
      listener({ challenge, payload }, next(), 'gone')
      await claims.idle()
    },
    reorgOf: (...[item, burned]: [ClaimedPermit, Promise<BurnOutcome>]) => listener(item, burned, 'gone'),
  }
}

describe('a burn that a reorg took back', () => {
  it('is tried until it is accepted again while only the world stands in its way, later each time', async () => {
    const { reorg, ledger, pauses, named } = await setup([
      failedWith('chain_unavailable'),
      failedWith('relayer_busy'),
      failedWith('storage_unavailable'),
      failedWith('chain_unavailable'),
      burnedAgain,
    ])
    await reorg()
    expect(pauses).toEqual([1_000, 2_000, 3_000, 3_000])
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(burnOf(9))
    expect(named('burn.lost')).toEqual([])
  })

  it('keeps its claim and the evidence of its burn when it cannot be executed any more', async () => {
    const { reorg, ledger, claims, named } = await setup([failedWith('deadline_passed')])
    await reorg()
    expect(named('burn.lost')).toMatchObject([{ reason: 'deadline_passed' }])
    // Presenting the same payload again erases nothing either.
    claims.start({ challenge, payload }, 'burnable')
    await claims.idle()
    const payment = await ledger.find(nonce)
    expect(payment?.demoted?.burn).toEqual(burnOf(5))
    expect(payment?.claim).toBeDefined()
    expect(named('burn.failed')).toEqual([])
    expect(named('burn.lost')).toHaveLength(2)
  })

  it('is not sent again once a block that holds it was found', async () => {
    const { reorg, ledger, world, left } = await setup([failedWith('relayer_busy'), burnedAgain])
    world.onPause = async () => void (await ledger.accept(nonce, burnOf(5)))
    await reorg()
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(burnOf(5))
    expect(left).toHaveLength(1)
  })

  it('is left as it is when the daemon closes', async () => {
    const { reorg, ledger, world, draining, left, named } = await setup([
      failedWith('relayer_busy'),
      burnedAgain,
    ])
    world.onPause = async () => draining.abort()
    await reorg()
    expect(left).toHaveLength(1)
    expect((await ledger.find(nonce))?.demoted?.burn).toEqual(burnOf(5))
    expect([named('burn.lost'), named('burn.interrupted')]).toMatchObject([[], [{ challengeNonce: nonce }]])
  })
})

describe('a burn that fails after the daemon closed', () => {
  it('keeps its claim, for which the next daemon may have signed', async () => {
    const { ledger, claims, draining, named, world } = await setup([failedWith('chain_unavailable')])
    world.onPause = () => new Promise(() => undefined)
    const second = challengeOf(2)
    await ledger.issue(second)
    await ledger.claim(second.nonce, permitPayloadOf(second))
    claims.start({ challenge: second, payload: permitPayloadOf(second) }, 'burnable')
    draining.abort()
    await expect(claims.watch(second.nonce, 1_000)).rejects.toMatchObject({ code: 'lease_lost' })
    expect((await ledger.find(second.nonce))?.claim).toBeDefined()
    expect(named('burn.failed')).toEqual([])
  })
})

describe('a burn that somebody else saw', () => {
  it('is accepted, though the burner that looked for it says that it failed', async () => {
    const { ledger, claims, named, world } = await setup([failedWith('burn_not_found')])
    world.onPause = () => new Promise(() => undefined)
    claims.start({ challenge, payload }, 'burned')
    expect(await claims.watch(nonce, 1_000)).toEqual({ kind: 'burned', burn: burnOf(5) })
    expect(await ledger.find(nonce)).toMatchObject({ claim: {}, accepted: { burn: burnOf(5) } })
    expect(named('burn.failed')).toEqual([])
  })
})

describe('a burn that broke off', () => {
  const second = challengeOf(2)
  const item = { challenge: second, payload: permitPayloadOf(second) }
  const transaction = { txNonce: 0, hash: burnOf(7).txHash, raw: '0x02', from: addressOf(0xb0) } as const

  /** A claim whose burn is on the chain, where the ledger refuses what it is told so many times. */
  async function broken(refusals: number) {
    const world = await setup([burnedAgain, burnedAgain, burnedAgain])
    // Pauses end at once here, and would never leave the turn to anybody else.
    world.world.onPause = () => new Promise((resolve) => setImmediate(resolve))
    const { accept: record } = world.ledger
    let left = refusals
    world.ledger.accept = async (...args) => {
      left -= 1
      if (left >= 0) throw new SvcError('ledger_failed', 'away')
      return record(...args)
    }
    await world.ledger.issue(second)
    await world.ledger.claim(second.nonce, item.payload)
    return world
  }
  const ended = async ({ ledger }: Awaited<ReturnType<typeof setup>>, end: 'accepted' | 'released') =>
    until(async () => {
      const payment = await ledger.find(second.nonce)
      return end === 'accepted' ? payment?.accepted !== undefined : payment?.claim === undefined
    })

  it('is taken up without its payer until the ledger knows of it', async () => {
    const test = await broken(2)
    test.claims.start(item, 'burnable')
    await ended(test, 'accepted')
    expect(test.named('burn.interrupted')).toHaveLength(2)
  })

  it.each(['storage_unavailable', 'chain_unavailable', 'relayer_busy'] as const)(
    'is taken up when %s came between it and a transaction that was recorded before',
    async (reason) => {
      const test = await broken(0)
      test.left.unshift(failedWith(reason))
      await test.ledger.recordSigned(transaction, [second.nonce])
      test.claims.start(item, 'burnable')
      expect(await test.claims.watch(second.nonce, 60_000)).toMatchObject({ rejection: { reason } })
      await ended(test, 'accepted')
      expect(test.named('burn.failed')).toEqual([])
    },
  )

  it('is taken up later each time', async () => {
    const test = await broken(6)
    test.left.push(burnedAgain, burnedAgain, burnedAgain, burnedAgain)
    test.claims.start(item, 'burnable')
    await ended(test, 'accepted')
    const pauses = test.pauses.filter((ms, i) => ms !== test.pauses[i - 1])
    expect(pauses).toEqual([1_000, 2_000, 3_000])
  })

  it('is not signed again while the transaction that a reorg took is sent again', async () => {
    const test = await broken(0)
    await test.ledger.accept(second.nonce, burnOf(6))
    const { demote } = test.ledger
    let refusals = 1
    test.ledger.demote = async (nonce) => {
      if (refusals-- > 0) throw new SvcError('ledger_failed', 'away')
      return demote(nonce)
    }
    let sentAgain: (outcome: BurnOutcome) => void = () => undefined
    test.reorgOf(item, new Promise<BurnOutcome>((resolve) => (sentAgain = resolve)))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([test.claims.isUnderWay(second.nonce), test.left.length]).toEqual([true, 3])
    sentAgain(burnedAgain)
    await until(() => !test.claims.isUnderWay(second.nonce))
  })

  it('keeps its claim while a block may hold it, and frees it once it is lost', async () => {
    const test = await broken(1)
    test.world.examined = reject('deadline_passed')
    await test.ledger.recordSigned(transaction, [second.nonce])
    test.claims.start(item, 'burnable')
    await until(() => test.pauses.length > 5)
    expect((await test.ledger.find(second.nonce))?.claim).toBeDefined()
    expect(await test.claims.refuse(item, reject('insufficient_funds'))).toBe('under_way')
    test.world.isLost = true
    await ended(test, 'released')
    expect(test.named('burn.failed')).toMatchObject([
      { challengeNonce: second.nonce, reason: 'deadline_passed' },
    ])
  })

  it('is left to whoever claims its challenge after it', async () => {
    const test = await broken(1)
    const { onPause } = test.world
    test.world.onPause = async () => {
      await onPause()
      await test.ledger.release(second.nonce)
      await test.ledger.claim(second.nonce, permitPayloadOf(second, { nonce: 1n }))
    }
    test.claims.start(item, 'burnable')
    await until(() => test.pauses.length === 1)
    await until(async () => test.named('burn.interrupted').length === 1)
    await new Promise((resolve) => setImmediate(resolve))
    expect([test.pauses.length, test.left.length]).toEqual([1, 2])
  })
})

describe('a claim whose answer got lost', () => {
  const second = challengeOf(2)
  const item = { challenge: second, payload: permitPayloadOf(second) }

  /** A ledger that answers no claim. `record` is the instant at which it records one. */
  async function lost(record: (claim: () => Promise<unknown>, pauses: number) => unknown) {
    const test = await setup([burnedAgain])
    test.world.onPause = () => new Promise((resolve) => setImmediate(resolve))
    await test.ledger.issue(second)
    const { claim } = test.ledger
    let isRecorded = false
    test.ledger.claim = async (...args) => {
      test.world.onPause = async () => {
        await new Promise((resolve) => setImmediate(resolve))
        if (isRecorded) return
        isRecorded = (await record(() => claim(...args), test.pauses.length)) !== undefined
      }
      throw new SvcError('ledger_failed', 'away')
    }
    await expect(test.claims.claim(item, false, undefined)).rejects.toMatchObject({ code: 'ledger_failed' })
    return test
  }

  it('is burned without its payer, also when the step waited for the disk for long', async () => {
    const { ledger, left } = await lost((claim, pauses) => (pauses > 5 ? claim() : undefined))
    await until(async () => (await ledger.find(second.nonce))?.accepted !== undefined)
    expect(left).toEqual([])
  })

  it('is given up when it was not recorded before its permit ended', async () => {
    const { clock, pauses, left } = await lost(() => undefined)
    await until(() => pauses.length > 5)
    clock.advance(1_000_000)
    await until(async () => {
      const { length } = pauses
      await new Promise((resolve) => setTimeout(resolve, 20))
      return pauses.length === length
    })
    expect(left).toHaveLength(1)
  })
})

describe('a lease that is lost', () => {
  const second = challengeOf(2)
  const item = { challenge: second, payload: permitPayloadOf(second) }

  it('ends the wait of every caller at once; its burns go on with the next daemon', async () => {
    const { ledger, claims, draining, closing, named, world } = await setup([])
    world.onPause = () => new Promise(() => undefined)
    await ledger.issue(second)
    await ledger.claim(second.nonce, item.payload)
    const { find } = ledger
    ledger.find = () => new Promise(() => undefined)
    claims.start(item, 'burnable')
    const end = claims.watch(second.nonce, 1_000_000)
    draining.abort()
    closing.abort()
    await expect(end).rejects.toMatchObject({ code: 'lease_lost' })
    await claims.idle()
    ledger.find = find
    expect((await ledger.find(second.nonce))?.claim).toBeDefined()
    expect([named('burn.failed'), named('burn.interrupted')]).toEqual([[], []])
  })

  it('and taken again by the same daemon, leaves what was signed to be sent again, and the rest to be burned', async () => {
    const signedItem = { challenge: challengeOf(3), payload: permitPayloadOf(challengeOf(3), { nonce: 1n }) }
    const test = await setup([burnedAgain])
    for (const { challenge, payload } of [item, signedItem]) {
      await test.ledger.issue(challenge)
      await test.ledger.claim(challenge.nonce, payload)
    }
    const transaction = { txNonce: 0, hash: burnOf(7).txHash, raw: '0x02', from: addressOf(0xb0) } as const
    await test.ledger.recordSigned(transaction, [signedItem.challenge.nonce])
    const order: string[] = []
    test.world.resume = ({ transactions, items }) => {
      order.push(...transactions.map(({ raw }) => raw))
      return items.map(async () => ({ kind: 'burned', burn: burnOf(7) }) as const)
    }
    await test.claims.resume(async () => void order.push('senders'))
    await test.claims.idle()
    expect(order).toEqual(['0x02', 'senders'])
    for (const { challenge } of [item, signedItem])
      expect((await test.ledger.find(challenge.nonce))?.accepted).toBeDefined()
    expect(test.left).toEqual([])
  })
})
