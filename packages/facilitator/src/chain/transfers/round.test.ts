import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { createTransferRound } from './round.js'

const signal = new AbortController().signal
const retentionSeconds = 100

/** A round whose parts do their work, but for those that fail. */
function setup(...failing: readonly ('follow' | 'accountFor' | 'forget' | 'count')[]) {
  const taken: string[] = []
  const part = async <T>(name: (typeof failing)[number], end: T): Promise<T> => {
    taken.push(name)
    if (failing.includes(name)) throw new Error(`${name} failed`)
    return end
  }
  let forgotten = 0
  const round = createTransferRound({
    follow: { round: () => part('follow', 'followed' as const) },
    accountFor: { round: () => part('accountFor', []) },
    store: {
      forget(issuedBefore) {
        forgotten = issuedBefore
        return part('forget', 1)
      },
    },
    stuckCount: { refresh: () => part('count', undefined) },
    clock: stoppedClock(1_000_000),
    retentionSeconds,
    addressesForgottenAtOnce: 10,
    dustBelow: 1n,
  })
  return { round, taken, forgottenBefore: () => forgotten }
}

describe('a round over the transfers', () => {
  it('follows, accounts, forgets past the retention and counts', async () => {
    const { round, taken, forgottenBefore } = setup()
    await round(signal)
    expect(taken).toEqual(['follow', 'accountFor', 'forget', 'count'])
    expect(forgottenBefore()).toBe(1_000 - retentionSeconds)
  })

  it.each(['follow', 'accountFor', 'forget', 'count'] as const)(
    'takes every other part although one fails: %s',
    async (failing) => {
      const { round, taken } = setup(failing)
      await expect(round(signal)).rejects.toThrow(`${failing} failed`)
      expect(taken).toEqual(['follow', 'accountFor', 'forget', 'count'])
    },
  )

  it('tells several failures as one', async () => {
    await expect(setup('follow', 'forget', 'count').round(signal)).rejects.toMatchObject({
      message: 'Error: follow failed, and 2 more',
      errors: [{ message: 'follow failed' }, { message: 'forget failed' }, { message: 'count failed' }],
    })
  })

  it('ends at once when it is cut off', async () => {
    const { round, taken } = setup('follow')
    await expect(round(AbortSignal.abort())).rejects.toThrow()
    expect(taken).toEqual(['follow'])
  })
})
