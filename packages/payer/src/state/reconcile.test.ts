import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChallengeNonce, Offer } from '@svc-zerc20/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { address, bytes32, offerAt } from '../../test/offers.js'
import { defaultLimits } from '../limits.js'
import type { BurnState } from './burn-verdict.js'
import { openState } from './open-state.js'
import type { PaymentRecord } from './payments.js'
import { createReconcile } from './reconcile.js'
import type { Reservation } from './spend-state.js'

const nonce = bytes32(1) as ChallengeNonce
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pay-reconcile-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function setUp(changes: Partial<Reservation>, says: BurnState = 'absent') {
  const clock = jumpingClock()
  const now = Math.floor(clock.now() / 1_000)
  const open = () => openState({ folder, clock, limits: defaultLimits })
  const { totals, memory, audit } = open()
  const reservation: Reservation = {
    owner: 'o',
    terms: 't',
    addresses: [],
    pair: 'p',
    host: 'h',
    route: 'r',
    amount: '1000',
    hour: 1,
    way: 'permit',
    token: address(1),
    payTo: address(2),
    helper: address(3),
    payer: address(4),
    expiresAt: now + 300,
    deadline: now + 300,
    ...changes,
  }
  await totals.reserve(nonce, reservation, [])
  const reconcile = createReconcile({
    totals,
    audit,
    memory,
    burnState: async () => says,
    clock,
    limits: defaultLimits,
  }).now
  const isReserved = async () => (await totals.reservation(nonce)) !== undefined
  const record: PaymentRecord = {
    challengeNonce: nonce,
    accepted: offerAt(now) as Offer.PaymentRequirements,
    delivery: 'open',
    resends: 0,
  }
  return { clock, open, totals, audit, memory, reconcile, isReserved, record }
}

describe('a reservation', () => {
  it('of a permit ends with its deadline, however late its offer expires', async () => {
    const { clock, reconcile, isReserved } = await setUp({ expiresAt: 4_000_000_000 })
    clock.advance(359_000)
    await reconcile()
    expect(await isReserved()).toBe(true)
    clock.advance(1_000)
    await reconcile()
    expect(await isReserved()).toBe(false)
  })

  it('becomes spent when the chain has the burn, and stays when the chain does not tell', async () => {
    const { clock, totals, reconcile, isReserved } = await setUp({}, 'unknown')
    clock.advance(600_000)
    await reconcile()
    expect(await isReserved()).toBe(true)
    const { memory, audit } = openState({ folder, clock, limits: defaultLimits })
    await createReconcile({
      totals,
      audit,
      memory,
      burnState: async () => 'burned',
      clock,
      limits: defaultLimits,
    }).now()
    expect((await totals.state()).totals).toEqual({ p: '1000' })
  })

  it('of a transfer that somebody is about to sign stays, and ends once nobody can sign any more', async () => {
    const { clock, open, memory, reconcile, isReserved, record } = await setUp({ way: 'self-transfer' })
    const other = open().memory
    clock.advance(290_000)
    await other.hold(nonce, () => record)
    clock.advance(100_000)
    await reconcile()
    expect(await isReserved()).toBe(true)
    // The hold is too old: a process that slept for so long finds the payment gone, and signs nothing.
    clock.advance(200_000)
    await reconcile()
    expect([await isReserved(), await memory.get(nonce)]).toEqual([false, undefined])
    expect(await other.hold(nonce, (before) => before)).toEqual({ isOurs: true, record: undefined })
  })

  it('ends for nobody but its owner', async () => {
    const { totals, isReserved } = await setUp({})
    expect(await totals.release(nonce, 'another')).toBe(false)
    expect((await totals.takeOver(nonce, { owner: 'heir', terms: 't' }))?.owner).toBe('heir')
    expect((await totals.takeOver(nonce, { owner: 'thief', terms: 'others' }))?.owner).toBe('heir')
    expect(await totals.release(nonce, 'o')).toBe(false)
    expect(await isReserved()).toBe(true)
    expect(await totals.release(nonce, 'heir')).toBe(true)
    expect(await isReserved()).toBe(false)
  })

  it('is looked at once for all who ask at once, and beside purchases once in a while', async () => {
    const { totals, audit, memory, clock } = await setUp({})
    clock.advance(400_000)
    let looks = 0
    const { now, beside } = createReconcile({
      totals,
      audit,
      memory,
      clock,
      limits: defaultLimits,
      async burnState() {
        looks += 1
        return 'unknown'
      },
    })
    await Promise.all([now(), now()])
    expect(looks).toBe(1)
    beside()
    clock.advance(defaultLimits.reconcilePauseMs)
    beside()
    await now()
    expect(looks).toBe(2)
  })
})
