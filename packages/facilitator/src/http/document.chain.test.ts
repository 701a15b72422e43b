/** Every answer a running daemon gives fits the document it publishes, in success and in each refusal. */
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { startBeside } from '../../test/beside.js'
import {
  type ApiDocument,
  createDocumentedAnswers,
  type DocumentedAnswers,
} from '../../test/documented-answers.js'
import { type Answer, startNetwork, type TestNetwork } from '../../test/network.js'
import { bodyOf } from '../../test/payment.js'
import { limits } from '../config/limits.js'

let net: TestNetwork
let documented: DocumentedAnswers

beforeAll(async () => {
  net = await startNetwork()
  documented = createDocumentedAnswers((await net.send('/openapi.json')).body as ApiDocument)
})
afterAll(() => net.close())

const check = (method: string, path: string, answer: Answer) => documented.check(method, path, answer)
const get = async (path: string, headers: Record<string, string> = {}) =>
  check('GET', path, await net.send(path, { headers }))
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
  check('POST', path, await net.post(path, body, headers))
const bearer = () => ({ authorization: `Bearer ${net.adminToken}` })
const tooLarge = { padding: 'x'.repeat(limits.bodyBytesMax) }

describe('real answers fit the OpenAPI document', () => {
  it('of a payment by permit, from challenge to a second settle', async () => {
    await get('/supported')
    await get('/health')
    await until(async () => (await get('/ready')).status === 200)
    await get('/openapi.json')
    const payer = await net.account()
    const { body } = await net.permitPayment(payer)
    await post('/challenge', { amount: '5' })
    await post('/verify', body)
    expect((await post('/settle', body)).body.success).toBe(true)
    await post('/settle', body)
    await post('/verify', body)
    await get(`/payments/${body.paymentPayload.accepted.extra.challengeNonce}`)
  })

  it('of self-transfers: good, too small, late, and by the direct body', async () => {
    const payer = await net.account({ gas: true })
    for (const amount of ['1000', '999', '2500']) {
      const offer = await net.challenge()
      const burnTxHash = await net.transfer(payer, offer.payTo, amount)
      await post('/verify', bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash }))
      await post('/settle', { challengeNonce: offer.challengeNonce, burnTxHash })
      await get(`/payments/${offer.challengeNonce}`)
    }
    const late = await net.challenge()
    const burnTxHash = await net.transfer(payer, late.payTo, '1000')
    net.clock.advance(301_000)
    await post('/settle', { challengeNonce: late.challengeNonce, burnTxHash })
    await get(`/payments/${late.challengeNonce}`)
  })

  it('of the administrative surface', async () => {
    const lists = ['/payments', '/late', '/waiting', '/mints']
    const span = '/hours?since=7200&until=14400'
    for (const path of [...lists, span, '/status', '/metrics', '/indexer']) {
      await get(`/admin${path}`, bearer())
      await get(`/admin${path}`)
    }
    for (const path of [...lists, '/hours']) await get(`/admin${path}?limit=0`, bearer())
    const page = (await get('/admin/payments?limit=1', bearer())).body
    const [payment] = page.payments as { challengeNonce: string }[]
    await get(`/admin/payments?after=${page.next}`, bearer())
    await get(`/admin/payments/${payment?.challengeNonce}`, bearer())
    await get(`/admin/payments/${payment?.challengeNonce}`)
    await get(`/admin/payments/0x${'0'.repeat(64)}`, bearer())
    for (const nonce of [payment?.challengeNonce, `0x${'0'.repeat(64)}`]) {
      const path = `/admin/payments/${nonce}/retry`
      check('POST', path, await net.send(path, { method: 'POST', headers: bearer() }))
      check('POST', path, await net.send(path, { method: 'POST' }))
    }
    for (const query of ['?dryRun=true', '', '?dryRun=maybe']) {
      const path = `/admin/fees/sweep${query}`
      check('POST', path, await net.send(path, { method: 'POST', headers: bearer() }))
      check('POST', path, await net.send(path, { method: 'POST' }))
    }
    await post(`/admin/pause?message=${'x'.repeat(201)}`, {}, bearer())
    for (const path of ['/admin/pause', '/admin/resume']) {
      check('POST', path, await net.send(path, { method: 'POST', headers: bearer() }))
      if (path === '/admin/pause') await post('/challenge', { amount: '1' })
      check('POST', path, await net.send(path, { method: 'POST' }))
    }
  })

  it('of refusals by form', async () => {
    for (const path of ['/challenge', '/verify', '/settle']) {
      await post(path, '{')
      await post(path, [])
      await post(path, {})
      await post(path, tooLarge)
      await post(path, 'x', { 'content-type': 'text/plain' })
    }
    await post('/settle', { challengeNonce: `0x${'1'.repeat(64)}`, burnTxHash: '0x' })
    await get(`/payments/0x${'1'.repeat(64)}`)
  })

  it('while the chain is out of reach', async () => {
    const payer = await net.account()
    const { body } = await net.permitPayment(payer)
    net.clock.advance(limits.probeFreshMs)
    net.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
    try {
      await get('/ready')
      await get('/admin/status', bearer())
      expect((await post('/verify', body)).status).toBe(503)
      expect((await post('/settle', body)).status).toBe(503)
    } finally {
      net.chain.setFaults([])
    }
    net.clock.advance(limits.probeFreshMs)
    await get('/ready')
  })

  it('when rates are used up', async () => {
    const tight = await startNetwork({ config: { daemon: { rate_limit_per_min: 3 } } })
    try {
      const body = bodyOf(await tight.challenge(), {
        challengeNonce: `0x${'1'.repeat(64)}`,
        burnTxHash: `0x${'2'.repeat(64)}`,
      })
      for (let i = 0; i < 2; i++) await tight.verify(body)
      check('POST', '/challenge', await tight.post('/challenge', { amount: '1' }))
      check('POST', '/verify', await tight.post('/verify', body))
      check('POST', '/settle', await tight.post('/settle', body))
      for (const [kind, path] of [
        ['document', '/openapi.json'],
        ['status', `/payments/0x${'1'.repeat(64)}`],
      ] as const) {
        await Promise.all(Array.from({ length: limits.asidePerMin[kind] }, () => tight.send(path)))
        check('GET', path, await tight.send(path))
      }
    } finally {
      await tight.close()
    }
  })

  it('under a profile that accepts no payments', async () => {
    const gated = await startBeside(net, {
      profile: 'testnet',
      env: {
        SVC_TREASURY_PK: generatePrivateKey(),
        SVC_RELAYER_PK: generatePrivateKey(),
        SVC_ADMIN_TOKEN: net.adminToken,
      },
    })
    try {
      const ask = async (method: string, path: string, body?: string) => {
        const response = await fetch(`${gated.url}${path}`, {
          method,
          headers: { ...bearer(), ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body }),
        })
        const text = await response.text()
        const { status, headers } = response
        check(method, path, { status, headers, text, body: JSON.parse(text) })
      }
      await ask('POST', '/challenge', '{"amount":"1"}')
      await ask('POST', '/verify', '{}')
      await ask('POST', '/settle', '{}')
      await ask('GET', '/supported')
      await ask('GET', '/admin/status')
      await ask('GET', '/ready')
    } finally {
      await gated.close()
    }
  })

  it('and every status the document names was among them', () => {
    // The payment history has its own test for this, beside its routes.
    expect(documented.unseen((path) => !path.startsWith('/history'))).toEqual([])
  })
})
