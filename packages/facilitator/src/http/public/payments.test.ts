import http from 'node:http'
import { limitConnections } from '@svc-zerc20/daemon'
import { accept, type FacilitatorApi, reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { challengeOf, selfTransferOf } from '../../../test/challenges.js'
import { connectionBounds } from '../../../test/connections.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { Grant } from '../../payment/ledger-port.js'
import type { SettleAnswer } from '../../payment/ports.js'
import { refuseConnections } from '../request-hooks.js'
import { registerRoutes } from '../route.js'
import { createServer } from '../server.js'
import { createUnderWay } from '../under-way.js'
import { paymentRoutes } from './payments.js'

const payload = selfTransferOf(challengeOf(1), 5)
const legacyBody = { challengeNonce: payload.challengeNonce, burnTxHash: payload.burnTxHash }

const bounds = { ...connectionBounds, max: 1_000, headMs: 60_000, turnedAwayMs: 5_000, sentAwayMax: 1_000 }

/** The real routes over a settle that answers as told. */
function setup(settle: (presented: FacilitatorApi.PresentedPayment) => Promise<SettleAnswer>) {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 9, expiredRetentionSeconds: 0 })
  const app = createServer({
    chainId: 31337,
    trustedProxies: undefined,
    bodyBytesMax: 1024,
    connections: bounds,
    log: () => undefined,
  })
  refuseConnections(app, { connections: limitConnections(app.server, bounds), isKnown: () => false })
  const failures: unknown[] = []
  registerRoutes(app, paymentRoutes, {
    chainId: 31337,
    profile: { name: 'local', acceptsPayments: true },
    issueChallenge: async () => reject('address_pool_empty'),
    verify: async () => ({ isValid: true }),
    settle,
    status: async () => undefined,
    ledger,
    admission: {
      request: () => undefined,
      issue: () => accept('caller'),
      present: () => undefined,
      aside: () => undefined,
    },
    underWay: createUnderWay({ settlesMax: 2, delayMsMax: 500, retryAfterSeconds: 2 }, () => 0),
    onGrantFailure: (err) => failures.push(err),
  })
  const send = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  return { app, failures, ledger, send, post: () => send('/settle', legacyBody) }
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

describe('more settles than may be under way', () => {
  /** Two settles are at work until they are let go. */
  async function overload() {
    let letGo: () => void = () => undefined
    const free = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const begun: string[] = []
    const at = setup(async ({ payload: { challengeNonce } }) => {
      begun.push(challengeNonce)
      if (challengeNonce !== payload.challengeNonce) await free
      return { response: success }
    })
    const directBody = (seed: number) => {
      const { challengeNonce, burnTxHash } = selfTransferOf(challengeOf(seed), seed)
      return { challengeNonce, burnTxHash }
    }
    const busy = [2, 3].map((seed) => at.send('/settle', directBody(seed)))
    while (begun.length < 2) await new Promise((resolve) => setImmediate(resolve))
    return { ...at, begun, letGo, busy }
  }

  it('are told when to come back, before anything is done for them, and are good then', async () => {
    const { post, send, begun, letGo, busy } = await overload()
    const refused = await post()
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2'])
    expect(refused.json()).toMatchObject({ success: false, errorReason: 'overloaded', transaction: '' })
    const challenge = await send('/challenge', { amount: '1' })
    expect([challenge.statusCode, challenge.headers['retry-after']]).toEqual([503, '2'])
    expect(challenge.json()).toMatchObject({ reason: 'overloaded' })
    expect(begun).toHaveLength(2)
    letGo()
    expect((await Promise.all(busy)).map(({ statusCode }) => statusCode)).toEqual([200, 200])
    expect((await post()).json()).toEqual(success)
    expect((await send('/challenge', { amount: '1' })).json()).toMatchObject({ reason: 'address_pool_empty' })
  })

  it('hold up none that is claimed', async () => {
    const { post, ledger, letGo, busy } = await overload()
    await ledger.issue(challengeOf(1))
    expect((await post()).statusCode).toBe(503)
    await ledger.claim(payload.challengeNonce, payload)
    expect((await post()).json()).toEqual(success)
    letGo()
    await Promise.all(busy)
  })

  it('are all answered when they come at once, those that are claimed with their verdict', async () => {
    const { app, ledger, letGo, busy } = await overload()
    await ledger.issue(challengeOf(1))
    await ledger.claim(payload.challengeNonce, payload)
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const agent = new http.Agent({ keepAlive: true })
    const settle = (body: object) => statusOf(`${origin}/settle`, body, agent)
    const known = Array.from({ length: 20 }, () => settle(legacyBody))
    const others = Array.from({ length: 600 }, (_, i) => {
      const { challengeNonce, burnTxHash } = selfTransferOf(challengeOf(10 + (i % 200)), i % 200)
      return settle({ challengeNonce, burnTxHash })
    })
    expect(new Set(await Promise.all(known))).toEqual(new Set(['200']))
    const told = await Promise.all(others)
    expect(told.filter((answer) => !/^503 after \d+$/.test(answer))).toEqual([])
    letGo()
    await Promise.all(busy)
    agent.destroy()
    await app.close()
  })
})

/** The status of an answer with the seconds to wait, or the error of the connection. */
const statusOf = (url: string, body: object, agent: http.Agent) =>
  new Promise<string>((resolve) => {
    const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } }
    const request = http.request(url, options, ({ statusCode, headers }) => {
      resolve(`${statusCode}${headers['retry-after'] ? ` after ${headers['retry-after']}` : ''}`)
    })
    request.on('response', (response) => response.resume())
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    request.end(JSON.stringify(body))
  })
