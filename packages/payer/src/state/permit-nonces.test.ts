import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { address, bytes32 } from '../../test/offers.js'
import { createPermitNonces, type PermitLanes } from './permit-nonces.js'
import { createMemoryCell } from './versioned-file.js'

const limits = { nonceHoldMsMax: 10_000, contestedHoldMsMax: 1_000, nonceMoveMsMax: 30_000, noncePollMs: 250 }
const token = address(1) as Address
const challenge = (n: number) => bytes32(n) as ChallengeNonce

function setUp() {
  const clock = jumpingClock()
  const chain = { nonce: 0n, reads: 0 }
  const lanes = createMemoryCell<PermitLanes>()
  const create = () =>
    createPermitNonces({
      clock,
      limits,
      lanes,
      readFacts: async () => {
        chain.reads += 1
        return { tokenName: 'Zed', nonce: chain.nonce, balance: 9n }
      },
    })
  const nonces = create()
  const deadline = Math.floor(clock.now() / 1_000) + 300
  const hold = (n: number, until = deadline, of = token) => nonces.hold(of, challenge(n), until)
  return { clock, chain, nonces, hold, create, deadline }
}

const settledYet = async (promise: Promise<unknown>) => {
  const pending = Symbol('pending')
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

describe('permit nonces', () => {
  it('are read once when nothing is in the way', async () => {
    const { chain, hold } = setUp()
    expect(await hold(1)).toEqual({ tokenName: 'Zed', nonce: 0n, balance: 9n })
    expect(chain.reads).toBe(1)
  })

  it('are given to one payment at a time, in order', async () => {
    const { chain, nonces, hold } = setUp()
    await hold(1)
    const later = [hold(2), hold(3)] as const
    expect(await settledYet(later[0])).toBe(false)
    chain.nonce = 1n
    await nonces.release(challenge(1), true)
    expect((await later[0]).nonce).toBe(1n)
    expect(await settledYet(later[1])).toBe(false)
    chain.nonce = 2n
    expect((await later[1]).nonce).toBe(2n)
  })

  it('are given to one payment at a time by all who share them', async () => {
    const { nonces, hold, create, deadline } = setUp()
    const other = create()
    await hold(1)
    const later = other.hold(token, challenge(2), deadline)
    expect(await settledYet(later)).toBe(false)
    await other.release(challenge(1), false) // not its own
    expect(await settledYet(later)).toBe(false)
    await nonces.release(challenge(1), true)
    expect((await later).nonce).toBe(1n)
  })

  it('are free again at once when a payment was refused', async () => {
    const { clock, nonces, hold } = setUp()
    await hold(1)
    await nonces.release(challenge(1), false)
    const before = clock.now()
    expect((await hold(2)).nonce).toBe(0n)
    expect(clock.now()).toBe(before)
  })

  it('go on past a consumed one while the own node lags, but not for ever', async () => {
    const { clock, nonces, hold } = setUp()
    await hold(1)
    await nonces.release(challenge(1), true)
    expect((await hold(2)).nonce).toBe(1n)
    await nonces.release(challenge(2), false)
    clock.advance(10_000)
    expect((await hold(3)).nonce).toBe(0n)
  })

  it('are taken over from a payment that never ends, after a bounded wait', async () => {
    const { clock, hold } = setUp()
    await hold(1)
    const before = clock.now()
    expect((await hold(2)).nonce).toBe(0n)
    expect(clock.now() - before).toBe(10_000)
  })

  it('that one payment held for too long are held only shortly by the next ones', async () => {
    const { clock, chain, hold } = setUp()
    await hold(1)
    const before = clock.now()
    await hold(2)
    await hold(3)
    await hold(4)
    expect(clock.now() - before).toBe(12_000)
    chain.nonce = 1n
    await hold(5)
    expect(clock.now() - before).toBe(12_000)
    await hold(6)
    expect(clock.now() - before).toBe(22_000)
  })

  it('that another payment used are waited for to move on, and not for ever', async () => {
    const { clock, chain, nonces } = setUp()
    chain.nonce = 5n
    await nonces.moved(token, 4n)
    const before = clock.now()
    await expect(nonces.moved(token, 5n)).rejects.toMatchObject({ code: 'permit_nonce_unmoved' })
    expect(clock.now() - before).toBe(30_000)
  })

  it('are not taken from a seller that lies about a burn once a facilitator has said so', async () => {
    const { nonces, hold } = setUp()
    await hold(1)
    await nonces.release(challenge(1), true)
    expect((await hold(2)).nonce).toBe(1n)
    await nonces.release(challenge(2), false)
    await nonces.moved(token, 1n)
    expect((await hold(2)).nonce).toBe(0n)
  })

  it('are taken over from a payment whose deadline has passed', async () => {
    const { clock, hold } = setUp()
    await hold(1, Math.floor(clock.now() / 1_000) + 2)
    const before = clock.now()
    await hold(2)
    expect(clock.now() - before).toBe(2_000)
  })

  it('of different tokens do not wait for each other', async () => {
    const { clock, hold } = setUp()
    const before = clock.now()
    await Promise.all([hold(1), hold(2, undefined, address(2) as Address)])
    expect(clock.now()).toBe(before)
  })

  it('can be asked for again after the chain could not be read', async () => {
    const clock = jumpingClock()
    let broken = true
    const nonces = createPermitNonces({
      clock,
      limits,
      lanes: createMemoryCell(),
      readFacts: async () => {
        if (broken) throw new Error('no answer')
        return { tokenName: 'Zed', nonce: 4n, balance: 9n }
      },
    })
    await expect(nonces.hold(token, challenge(1), 2e9)).rejects.toThrow('no answer')
    broken = false
    expect((await nonces.hold(token, challenge(2), 2e9)).nonce).toBe(4n)
  })
})
