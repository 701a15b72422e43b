import { SvcError } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectionBounds } from '../../test/connections.js'
import type { LogEvent } from '../telemetry/events.js'
import { createServer } from './server.js'

const events: LogEvent[] = []
const app = createServer({
  chainId: 31337,
  trustedProxies: undefined,
  bodyBytesMax: 1024,
  connections: connectionBounds,
  log: (event) => events.push(event),
})
app.get('/supported', async () => ({}))
app.get('/payments/:challengeNonce', async () => ({}))
app.post('/verify', async (request) => request.body ?? {})
app.post('/settle', async () => {
  throw new Error('0xsecret of ours')
})
app.post('/challenge', async () => {
  throw new SvcError('rpc_unreachable', 'the RPC at host did not answer')
})
for (const path of ['/admin/fees/sweep', '/taken-over']) {
  app.post(path, async () => {
    throw new SvcError('lease_lost', 'host (process 7) works for this ledger')
  })
}
beforeAll(() => app.ready())
afterAll(() => app.close())

const post = (url: string, payload: string, type = 'application/json') =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } })

describe('the server', () => {
  it('tells nobody but the operator which daemon works', async () => {
    const [told, untold] = await Promise.all(['/admin/fees/sweep', '/taken-over'].map((at) => post(at, '{}')))
    for (const answer of [told, untold]) {
      expect([answer?.statusCode, answer?.json().reason]).toEqual([503, 'standby'])
    }
    expect(told?.json().error).toBe('host (process 7) works for this ledger')
    expect(untold?.json().error).not.toContain('process 7')
  })

  it('answers what it does not know with not_found', async () => {
    const answer = await app.inject('/nothing')
    expect([answer.statusCode, answer.json().reason]).toEqual([404, 'not_found'])
  })

  it.each([
    ['GET', '/verify', 'POST'],
    ['PUT', '/settle', 'POST'],
    ['DELETE', '/supported', 'GET, HEAD'],
    ['POST', `/payments/0x${'ab'.repeat(32)}?x=1`, 'GET, HEAD'],
  ] as const)('answers %s %s with method_not_allowed and what it allows', async (method, url, allow) => {
    const answer = await app.inject({ method, url })
    expect([answer.statusCode, answer.json().reason]).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.allow?.split(', ').sort().join(', ')).toBe(allow)
  })

  it('answers a body above the limit with body_too_large, in the shape of the endpoint', async () => {
    const answer = await post('/verify', JSON.stringify({ padding: 'x'.repeat(2000) }))
    expect([answer.statusCode, answer.json()]).toEqual([
      413,
      { isValid: false, invalidReason: 'body_too_large', invalidMessage: expect.any(String) },
    ])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense'])(
    'answers a body of type %s with unsupported_media_type',
    async (type) => {
      const answer = await post('/settle', '{}', type)
      expect([answer.statusCode, answer.json()]).toEqual([
        415,
        {
          success: false,
          errorReason: 'unsupported_media_type',
          errorMessage: expect.any(String),
          transaction: '',
          network: 'eip155:31337',
        },
      ])
    },
  )

  it.each([
    ['broken JSON', '{'],
    ['nothing', ''],
    ['a __proto__ key', '{"__proto__": {"isValid": true}}'],
    ['a constructor.prototype key', '{"constructor": {"prototype": {}}}'],
    ['a NUL byte', '\u0000'],
  ])('answers %s with malformed_request', async (_name, text) => {
    const answer = await post('/verify', text)
    expect([answer.statusCode, answer.json().invalidReason]).toEqual([400, 'malformed_request'])
  })

  it('takes JSON with a charset, and deep nesting without falling over', async () => {
    expect((await post('/verify', '{"a":1}', 'application/json; charset=utf-8')).json()).toEqual({ a: 1 })
    expect((await post('/verify', `${'['.repeat(500)}${']'.repeat(500)}`)).statusCode).toBe(200)
  })

  it('answers a path with broken percent-encoding with malformed_request', async () => {
    const answer = await app.inject('/payments/%E0%A4%A')
    expect([answer.statusCode, answer.json().reason]).toEqual([400, 'malformed_request'])
  })

  it('tells nothing of a defect of its own, and logs it', async () => {
    const answer = await post('/settle', '{}')
    expect([answer.statusCode, answer.json().errorReason]).toEqual([500, 'internal_error'])
    expect(answer.body).not.toContain('secret')
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'request.failed', route: '/settle', err: expect.any(Error) }),
    )
  })

  it('tells a chain that cannot be reached from a defect, with Retry-After', async () => {
    const answer = await post('/challenge', '{}')
    expect([answer.statusCode, answer.json().reason]).toEqual([503, 'chain_unavailable'])
    expect(answer.headers['retry-after']).toBe('5')
    expect(answer.body).not.toContain('host')
  })
})
