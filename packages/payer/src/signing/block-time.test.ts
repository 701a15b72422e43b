import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { createBlockSeconds } from './block-time.js'

const limits = { blockSample: 16, blockSecondsMax: 30, blockTimeMsMax: 600_000 }

/** A chain whose blocks are this far apart. */
function setUp(secondsApart: number, height = 1_000n) {
  const clock = jumpingClock()
  const chain = { secondsApart, reads: 0, broken: false }
  const blockSeconds = createBlockSeconds({
    clock,
    limits,
    readBlock: async (at) => {
      chain.reads += 1
      if (chain.broken) throw new Error('no answer')
      const number = at === 'latest' ? height : at
      return { number, timestamp: BigInt(Math.floor(Number(number) * chain.secondsApart)) }
    },
  })
  return { blockSeconds, chain, clock }
}

describe('the time of a block', () => {
  it.each([
    [12, 12],
    [2.5, 3],
    [0.25, 1],
    [0, 1],
    [900, 30],
  ])('of %d s is taken as %d s', async (apart, taken) => {
    expect(await setUp(apart).blockSeconds()).toBe(taken)
  })

  it('is measured over the blocks there are on a young chain, and is slow without any', async () => {
    expect(await setUp(5, 3n).blockSeconds()).toBe(5)
    expect(await setUp(5, 0n).blockSeconds()).toBe(30)
  })

  it('is measured again after a while, and not before', async () => {
    const { blockSeconds, chain, clock } = setUp(12)
    await blockSeconds()
    chain.secondsApart = 2
    expect(await blockSeconds()).toBe(12)
    expect(chain.reads).toBe(2)
    clock.advance(limits.blockTimeMsMax)
    expect(await blockSeconds()).toBe(2)
  })

  it('is slow while nobody answers, and measured as soon as somebody does', async () => {
    const { blockSeconds, chain } = setUp(12)
    chain.broken = true
    expect(await blockSeconds()).toBe(30)
    chain.broken = false
    expect(await blockSeconds()).toBe(12)
  })
})
