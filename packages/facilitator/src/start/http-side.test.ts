import { expect, it } from 'vitest'
import { createOperatorActions } from './http-side.js'

it('fees are swept by the daemon that works, and any other says who that is', async () => {
  const swept: string[] = []
  let isActive = false
  const fees = { sweepNow: async () => void swept.push('now') }
  const { sweepNow } = createOperatorActions(
    { current: () => ({ fees }) as never, isActive: () => isActive },
    async () => ({
      daemons: [],
      leases: [{ name: 'active', term: 8, holder: 'worker (process 1, 00)' }],
    }),
  )
  await expect(sweepNow({ isDryRun: false })).rejects.toMatchObject({
    code: 'lease_lost',
    message: expect.stringContaining('worker (process 1, 00)'),
  })
  isActive = true
  await sweepNow({ isDryRun: false })
  expect(swept).toEqual(['now'])
})
