import { expect, it } from 'vitest'
import { challengeOf } from '../../test/challenges.js'
import { createOperatorActions } from './http-side.js'

it('a mint of an epoch is tried again by the daemon that works, and any other says who that is', async () => {
  const retried: string[] = []
  let isActive = false
  const finalization = { retry: async (nonce: string) => void retried.push(nonce) }
  const { retryMint, closeEpoch, sweepNow } = createOperatorActions(
    { current: () => ({ finalization }) as never, isActive: () => isActive },
    async () => ({
      daemons: [],
      leases: [{ name: 'active', term: 8, holder: 'worker (process 1, 00)' }],
    }),
  )
  const alone = challengeOf(1)
  const together = challengeOf(2, { epoch: { ledger: '00', start: 1 } })
  await retryMint(alone)
  for (const act of [
    () => retryMint(together),
    () => closeEpoch(together),
    () => sweepNow({ isDryRun: false }),
  ]) {
    await expect(act()).rejects.toMatchObject({
      code: 'lease_lost',
      message: expect.stringContaining('worker (process 1, 00)'),
    })
  }
  isActive = true
  await retryMint(together)
  expect(retried).toEqual([alone.nonce, together.nonce])
})
