/**
 * Somebody surrounds a payment with payments of its own. It knows what it paid itself, so a sum whose proof counted nothing else
 * names the recipient of the payment in between.
 */
import { batchShape } from '@svc-zerc20/zk'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../../../../test/support/seeded.js'
import { createBatchWorld } from '../../../test/batch-world.js'

const runs = Number(process.env.FLUSH_RUNS ?? 2)
const price = 10_000n
const minuteMs = 60_000
const account = 7

type Attack = {
  /** Of each of its payments. */
  readonly value: bigint
  /** Payments before the other one, and after it. */
  readonly around: readonly [number, number]
  readonly accounts: number
  /** How long it looks at the chain afterwards. */
  readonly minutes: number
}

/** Whether the sums say for sure that the payment was made to this provider. Others pay it meanwhile, each from an account of its own. */
async function isNamed({ value, around, accounts, minutes }: Attack, seed: number): Promise<boolean> {
  const chance = seeded(seed)
  const world = createBatchWorld({
    least: 20,
    floor: price,
    waitMaxMs: 360 * minuteMs,
    jitterMs: 10 * minuteMs,
    shape: batchShape,
    chance,
  })
  const own = new Set<number>()
  const attack = async (count: number) => {
    for (let i = 0; i < count; i++) {
      own.add(world.world.transfers.length)
      await world.pay(value, 60, account + (own.size % accounts))
    }
  }
  for (let i = Math.floor(chance() * 20); i > 0; i--) await world.pay(price)
  await attack(around[0])
  const settle = async (rounds: number) => {
    world.cover()
    for (let i = 0; i < rounds; i++) {
      world.clock.advance(minuteMs)
      await world.round()
    }
  }
  await settle(12)
  const place = world.world.transfers.length
  await world.pay(price)
  await attack(around[1])
  for (let minute = 0; minute < minutes; minute += 4) {
    await settle(4)
    await world.pay(price)
  }
  const batch = world.world.counted.find(({ batch: { start, end } }) => start <= place && place < end)?.batch
  return (
    batch?.leaves.every(
      ({ burn: { leafIndex } }) => leafIndex === BigInt(place) || own.has(Number(leafIndex)),
    ) ?? false
  )
}

async function namedOf(attack: Attack): Promise<number> {
  let named = 0
  for (let run = 0; run < runs; run++) if (await isNamed(attack, run)) named += 1
  if (process.env.FLUSH_RUNS) {
    process.stdout.write(`${JSON.stringify(attack, asText)}: named in ${named} of ${runs} runs\n`)
  }
  return named
}

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
const around = [30, 30] as const

describe('a payment that somebody surrounds with payments of its own', () => {
  it('is not named by sixty of the smallest coins, from however many accounts', async () => {
    expect(await namedOf({ value: 1n, around, accounts: 60, minutes: 60 })).toBe(0)
  })

  it('is not named by one account that pays sixty times, while others may come', async () => {
    expect(await namedOf({ value: price, around, accounts: 1, minutes: 60 })).toBe(0)
  })

  it('is named for sixty whole payments from as few accounts as make a company: a price, and no wall', async () => {
    expect(await namedOf({ value: price, around, accounts: 20, minutes: 60 })).toBe(runs)
  })
})
