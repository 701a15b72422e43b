import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Behaviour, startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { randomHex } from '../../test/offers.js'
import { type CreatePayerOptions, createPayer } from '../index.js'

let net: TestNetwork
let seller: Awaited<ReturnType<typeof startHostileSeller>>
let behave: Behaviour
let state: string
beforeAll(async () => {
  net = await startNetwork()
  seller = await startHostileSeller(net, (exchange) => behave(exchange))
})
afterAll(async () => {
  await seller.close()
  await net.close()
})
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-prices-'))
})
afterEach(() => rm(state, { recursive: true, force: true }))

const newPayer = (changes: Partial<CreatePayerOptions> = {}) =>
  createPayer({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    state,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: 'unlimited',
    maxTotal: 'unlimited',
    ...changes,
  })

describe('a price', () => {
  const asks: Record<string, (amount: string) => Behaviour> = {
    'leads every request to a path that was never seen': (amount) => (exchange) => {
      const { isPaid, request, response, settle, demand, offer } = exchange
      if (isPaid) return settle(200, { success: true, transaction: randomHex(32) })
      if (request.url?.startsWith('/fresh-')) return demand(offer({ amount }))
      return response.writeHead(307, { location: `/fresh-${randomHex(8)}` }).end()
    },
    'sends no receipt': (amount) => (exchange) => {
      const { isPaid, response, demand, offer } = exchange
      return isPaid ? response.writeHead(200).end('goods') : demand(offer({ amount }))
    },
  }

  it.each(Object.entries(asks))('that rose is asked about, though the seller %s', async (_, asking) => {
    behave = asking('1000')
    expect((await newPayer({ priceRisePercent: 25 }).pay(seller.url)).response.status).toBe(200)
    behave = asking('900000')
    await expect(newPayer({ priceRisePercent: 25 }).pay(seller.url)).rejects.toThrow(
      'not_approved: rule price',
    )
  })

  it('of several offers is the lowest, wherever it stands', async () => {
    behave = ({ isPaid, settle, demand, offer }) =>
      isPaid
        ? settle(200, { success: true, transaction: randomHex(32) })
        : demand(['700', '30', '500'].map((amount) => offer({ amount })))
    const { payment } = await newPayer().pay(seller.url)
    expect(payment?.amount).toBe('30')
  })
})
