import { expect, it } from 'vitest'
import { challengeOf } from '../../test/challenges.js'
import { createOperatorActions } from './http-side.js'

it('a mint of an epoch is tried again by the daemon that works, and any other says who that is', async () => {
  const retried: string[] = []
  let isWorking = false
  const finalization = { retry: async (nonce: string) => void retried.push(nonce) }
  const { retryMint, closeEpoch, sweepNow } = createOperatorActions(
    { current: () => ({ finalization }) as never, isWorking: () => isWorking },
    async () => ({
      daemons: [],
      leases: [
        { name: 'send 0xb1', term: 7, holder: 'another' },
        { name: 'work', term: 8, holder: 'worker (process 1, 00)' },
      ],
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
  isWorking = true
  await retryMint(together)
  expect(retried).toEqual([alone.nonce, together.nonce])
})
