import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, seconds } from '../../../test/challenges.js'
import type { Challenge } from '../../payment/records.js'
import { createIssuedAddresses } from './addresses.js'
import { createIssuedMemory } from './memory.js'

const limits = { addressesPerWrite: 2, addressGatherMs: 0, addressRetryMs: 1, addressesWaitingMax: 3 }

function open(recorded: Iterable<Challenge> = []) {
  const memory = createIssuedMemory({ perAddressMax: 1, addressesMax: 100 })
  let refuses = false
  const failures: unknown[] = []
  const store = {
    ...memory,
    async put(challenges: readonly Challenge[]) {
      if (refuses) throw new Error('no space left on device')
      await memory.put(challenges)
    },
  }
  const issued = createIssuedAddresses({
    store,
    recorded,
    issuedSince: 500,
    clock: systemClock,
    onFailure: (err) => failures.push(err),
    limits,
  })
  return {
    issued,
    failures,
    refuse(now: boolean) {
      refuses = now
    },
  }
}

describe('issued addresses on their way to the disk', () => {
  it('hold what earlier runs recorded before anything may be forgotten, without what is too old', async () => {
    const recorded = [1, 2, 3, 4, 5].map((n) => challengeOf(n, { issuedAt: seconds(n * 200) }))
    const { issued } = open(recorded)
    expect(issued.heldUntil()).toBe(0)
    await issued.durable()
    expect(issued.heldUntil()).toBe(Number.POSITIVE_INFINITY)
    const found = await issued.store.find([1, 2, 3, 4, 5].map(addressOf))
    expect(found.map((challenge) => challenge !== undefined)).toEqual([false, false, true, true, true])
  })

  it('are held once they are written', async () => {
    const { issued } = open()
    await issued.durable()
    issued.add(challengeOf(1))
    expect(issued.heldUntil()).toBe(challengeOf(1).expiresAt - 1)
    await issued.durable()
    expect(issued.heldUntil()).toBe(Number.POSITIVE_INFINITY)
  })

  it('wait while the disk refuses, and refuse more when too many wait', async () => {
    const { issued, failures, refuse } = open([challengeOf(9)])
    refuse(true)
    for (const n of [1, 2, 3]) {
      issued.assertRoom()
      issued.add(challengeOf(n))
    }
    expect(() => issued.assertRoom()).toThrow('issued addresses cannot be written')
    await expect(issued.durable()).rejects.toThrow('no space left on device')
    expect(failures.length).toBeGreaterThan(0)
    refuse(false)
    // The failure of the write under way is told once; the next one succeeds.
    await issued.durable().catch(() => issued.durable())
    expect(await issued.store.find([addressOf(9), addressOf(3)])).toEqual([challengeOf(9), challengeOf(3)])
    issued.assertRoom()
    await issued.close()
  })
})
