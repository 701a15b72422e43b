import { expect, it } from 'vitest'
import { challengeOf } from '../../test/challenges.js'
import { createOperatorActions } from './http-side.js'

it('a mint of an epoch is tried again by the daemon that works, and any other says that it cannot', async () => {
  const retried: string[] = []
  let isWorking = false
  const finalization = { retry: async (nonce: string) => void retried.push(nonce) }
  const { retryMint } = createOperatorActions({
    current: () => ({ finalization }) as never,
    isWorking: () => isWorking,
  })
  const alone = challengeOf(1)
  const together = challengeOf(2, { epoch: { ledger: '00', start: 1 } })
  await retryMint(alone)
  await expect(retryMint(together)).rejects.toMatchObject({ code: 'lease_lost' })
  isWorking = true
  await retryMint(together)
  expect(retried).toEqual([alone.nonce, together.nonce])
})
