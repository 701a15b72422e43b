import { wrapAxiosWithPayment, x402Client as x402AxiosClient } from '@x402/axios'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Behaviour, startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { createPayerScheme, deliverPayments, withSpendControls } from '../index.js'

let net: TestNetwork
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(() => net.close())

const createPayer = () =>
  createPayerScheme({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
  })
const buyer = () => {
  const payer = createPayer()
  const client = withSpendControls(new x402Client(), 'any').register(net.network, payer)
  return wrapFetchWithPayment(deliverPayments(fetch, payer), client)
}

/** A server that answers by path; what was asked of it, in order. */
async function site(behave: Behaviour) {
  const seller = await startHostileSeller(net, behave)
  closers.push(seller.close)
  const asked = () =>
    seller.requests.map(({ method, url, headers }) =>
      [method, url, headers['payment-signature'] ? 'paid' : ''].join(' ').trim(),
    )
  return { url: new URL(seller.url).origin, asked, requests: seller.requests }
}

/** Moved from /old to /new, where it is sold. */
const moved =
  (status: number): Behaviour =>
  ({ request, response, isPaid, demand, offer }) => {
    if (request.url === '/old') return response.writeHead(status, { location: '/new' }).end()
    return isPaid ? response.writeHead(200).end('the resource') : demand(offer())
  }

describe('an offer behind a redirect of its own origin', () => {
  it('is paid at the URL that made it', async () => {
    const { url, asked } = await site(moved(302))
    const response = await buyer()(`${url}/old`)
    expect([response.status, await response.text()]).toEqual([200, 'the resource'])
    expect(asked()).toEqual(['GET /old', 'GET /new', 'GET /new paid'])
  })

  it('is paid there with axios over that fetch, too', async () => {
    const { url, asked } = await site(moved(308))
    const payer = createPayer()
    const instance = axios.create({ adapter: 'fetch', env: { fetch: deliverPayments(fetch, payer) } })
    const pay = wrapAxiosWithPayment(instance, new x402AxiosClient().register(net.network, payer))
    expect((await pay.get(`${url}/old`)).data).toBe('the resource')
    expect(asked()).toEqual(['GET /old', 'GET /new', 'GET /new paid'])
  })

  it.each([
    [303, 'GET'],
    [302, 'GET'],
    [307, 'POST'],
    [308, 'POST'],
  ])('is paid with the method that asked: %d turns POST into %s', async (status, method) => {
    const { url, asked } = await site(moved(status))
    expect((await buyer()(`${url}/old`, { method: 'POST', body: 'ask' })).status).toBe(200)
    expect(asked()).toEqual(['POST /old', `${method} /new`, `${method} /new paid`])
  })

  it('takes the body along only where the method stays', async () => {
    const bodies: string[] = []
    const { url } = await site(async (exchange) => {
      let body = ''
      for await (const piece of exchange.request) body += piece
      bodies.push(`${exchange.request.headers['content-type'] ?? ''}|${body}`)
      return moved(bodies.length < 4 ? 307 : 303)(exchange)
    })
    const ask = { method: 'POST', body: 'ask', headers: { 'content-type': 'text/x' } }
    expect((await buyer()(`${url}/old`, ask)).status).toBe(200)
    expect((await buyer()(`${url}/old`, ask)).status).toBe(200)
    expect(bodies).toEqual(['text/x|ask', 'text/x|ask', 'text/x|ask', 'text/x|ask', '|', '|'])
  })

  it('that is presented again goes to the same place again', async () => {
    let broken = false
    const { url, asked } = await site((exchange) => {
      if (exchange.isPaid && !broken) {
        broken = true
        return exchange.request.socket.destroy()
      }
      return moved(302)(exchange)
    })
    const buy = buyer()
    await expect(buy(`${url}/old`)).rejects.toMatchObject({ code: 'payment_unanswered' })
    expect((await buy(`${url}/old`)).status).toBe(200)
    expect(asked()).toEqual(['GET /old', 'GET /new', 'GET /new paid', 'GET /new paid'])
  })
})

describe('a redirect without an offer at its end', () => {
  it('is followed to other origins as ever, without the credentials of this one', async () => {
    const other = await site(({ response }) => response.writeHead(200).end('free'))
    const { url } = await site(({ response }) => response.writeHead(302, { location: other.url }).end())
    const response = await buyer()(url, { headers: { authorization: 'Bearer secret', accept: 'text/x' } })
    expect([response.url, await response.text()]).toEqual([`${other.url}/`, 'free'])
    expect(other.requests[0]?.headers).toMatchObject({ accept: 'text/x' })
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('is left to a caller who said so', async () => {
    const { url } = await site(moved(302))
    expect((await buyer()(`${url}/old`, { redirect: 'manual' })).status).toBe(302)
    await expect(buyer()(`${url}/old`, { redirect: 'error' })).rejects.toMatchObject({
      code: 'redirect_refused',
    })
  })
})

it('a redirect that was bought is handed to the caller, who follows it without the payment', async () => {
  const { url, asked } = await site(({ isPaid, demand, offer, response }) => {
    if (!isPaid) return demand(offer())
    const receipt = { success: true, transaction: `0x${'ab'.repeat(32)}`, network: net.network }
    return response
      .writeHead(302, { location: '/signed', 'payment-response': btoa(JSON.stringify(receipt)) })
      .end()
  })
  const response = await buyer()(url)
  expect([response.status, response.headers.get('location')]).toEqual([302, '/signed'])
  expect(asked()).toEqual(['GET /', 'GET / paid'])
})
