import { accept, reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { challengeOf, selfTransferOf } from '../../../test/challenges.js'
import { connectionBounds } from '../../../test/connections.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { Grant } from '../../payment/ledger-port.js'
import type { SettleAnswer } from '../../payment/ports.js'
import { registerRoutes } from '../route.js'
import { createServer } from '../server.js'
import { paymentRoutes } from './payments.js'

const payload = selfTransferOf(challengeOf(1), 5)
const legacyBody = { challengeNonce: payload.challengeNonce, burnTxHash: payload.burnTxHash }

/** The real routes over a settle that answers as told. */
function setup(settle: () => Promise<SettleAnswer>) {
  const clock = stoppedClock()
  const app = createServer({
    chainId: 31337,
    trustedProxies: undefined,
    bodyBytesMax: 1024,
    connections: connectionBounds,
    log: () => undefined,
  })
  const failures: unknown[] = []
  registerRoutes(app, paymentRoutes, {
    chainId: 31337,
    profile: { name: 'local', acceptsPayments: true },
    issueChallenge: async () => reject('address_pool_empty'),
    verify: async () => ({ isValid: true }),
    settle,
    status: async () => undefined,
    ledger: createMemoryLedger({ clock, openMax: 1, expiredRetentionSeconds: 0 }),
    admission: {
      request: async () => undefined,
      issue: async () => accept('caller'),
      present: async () => undefined,
    },
    onGrantFailure: (err) => failures.push(err),
  })
  return { app, failures, post: () => app.inject({ method: 'POST', url: '/settle', payload: legacyBody }) }
}

const refused = (errorReason: 'relayer_busy' | 'chain_unavailable'): SettleAnswer => ({
  response: { success: false, errorReason, transaction: '', network: 'eip155:31337' },
})
const success: SettleAnswer['response'] = { success: true, transaction: '0x', network: 'eip155:31337' }

describe('POST /settle', () => {
  it.each(['relayer_busy', 'chain_unavailable'] as const)(
    'a verdict of %s is 503 with Retry-After and a whole body',
    async (reason) => {
      const answer = await setup(async () => refused(reason)).post()
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5'])
      expect(answer.json()).toEqual(refused(reason).response)
    },
  )

  it('the grant is used once the answer was written, and only once', async () => {
    const ends: string[] = []
    const grant: Grant = {
      isHeld: () => true,
      use: async () => void ends.push('used'),
      giveBack: async () => void ends.push('given back'),
    }
    const { app, post } = setup(async () => ({ response: success, grant }))
    expect((await post()).json()).toEqual(success)
    await app.close()
    expect(ends).toEqual(['used'])
  })

  it('a grant whose use cannot be recorded is told to the operator', async () => {
    const grant: Grant = {
      isHeld: () => true,
      use: () => Promise.reject(new Error('disk full')),
      giveBack: async () => undefined,
    }
    const { app, post, failures } = setup(async () => ({ response: success, grant }))
    await post()
    await app.close()
    expect(failures).toEqual([expect.objectContaining({ message: 'disk full' })])
  })
})
