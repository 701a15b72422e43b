import {
  PaymentPayloadV2Schema,
  PaymentRequiredV2Schema,
  PaymentRequirementsV2Schema,
} from '@x402/core/schemas'
import type { PaymentPayload } from '@x402/core/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buyWithFetch, createPayer } from './support/buyers.js'
import type { Answer } from './support/facilitator-proxy.js'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, type Shop } from './support/shops.js'
import { offerOf, paying, receipt, required } from './support/wire.js'

const terms = {
  resource: 'https://shop.example/cheap',
  description: 'a thought, spoken',
  mimeType: 'text/plain',
  outputSchema: { type: 'object', properties: { thought: { type: 'string' } } },
  extra: { sku: 'A-1', shelf: { row: 3, tags: ['new', null] } },
}

let interop: Interop
let shop: Shop
let talkative: Shop
beforeAll(async () => {
  interop = await startInterop()
  shop = await openExpressShop(interop)
  talkative = await openExpressShop(interop, { cheap: terms })
})
beforeEach(() => interop.proxy.reset())
afterAll(async () => {
  await Promise.all([shop.close(), talkative.close()])
  await interop.close()
})

/** A fetch that records what the official client sent and received. */
function watchedFetch() {
  const seen: { request: Request; response: Response }[] = []
  const over: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const response = await fetch(request.clone())
    seen.push({ request, response: response.clone() })
    return response
  }
  return { seen, over }
}

describe('the envelope', () => {
  it('R-002 R-003 R-020 is x402 v2 as the official schemas know it, in three base64 JSON headers', async () => {
    const { seen, over } = watchedFetch()
    await buyWithFetch(interop, createPayer(interop), over)(`${shop.url}/upfront`)
    const [asked, paid] = seen
    if (asked === undefined || paid === undefined) throw new Error('the client did not send twice')

    const demand = json(asked.response.headers.get('PAYMENT-REQUIRED'))
    expect(PaymentRequiredV2Schema.strict().parse(demand)).toEqual(demand)
    expect(demand.x402Version).toBe(2)
    const offer = offerOf(required(asked.response))
    expect(PaymentRequirementsV2Schema.strict().parse(offer)).toEqual(offer)
    expect(Object.keys(offer).sort()).toEqual([
      'amount',
      'asset',
      'extra',
      'maxTimeoutSeconds',
      'network',
      'payTo',
      'scheme',
    ])

    const payment = json(paid.request.headers.get('PAYMENT-SIGNATURE'))
    expect(PaymentPayloadV2Schema.strict().parse(payment)).toEqual(payment)
    expect(payment).toMatchObject({ x402Version: 2, accepted: offer })
    expect(Object.keys(payment.payload as object).sort()).toEqual([
      'burnAuthSig',
      'challengeNonce',
      'payer',
      'permit',
    ])

    const settled = json(paid.response.headers.get('PAYMENT-RESPONSE'))
    expect(settled).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: 'eip155:31337',
      payer: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      extra: { phase: 'accepted' },
    })
  })

  it('R-004 has no first version: X-PAYMENT counts as no payment at all', async () => {
    const payment = await payOffer(interop, await fetchOffer(`${shop.url}/cheap`))
    const { 'PAYMENT-SIGNATURE': header } = paying(payment).headers
    interop.proxy.forget()
    const response = await fetch(`${shop.url}/cheap`, { headers: { 'X-PAYMENT': header } })
    expect(response.status).toBe(402)
    expect(interop.proxy.paths()).toEqual(['/challenge'])
    expect(response.headers.has('X-PAYMENT-RESPONSE')).toBe(false)
    expect((await fetch(`${shop.url}/cheap`, paying(payment))).status).toBe(200)
  })

  it('R-004 R-170 a payment that calls itself version 1 is refused before the facilitator', async () => {
    const payment = await payOffer(interop, await fetchOffer(`${shop.url}/cheap`))
    const { accepted, payload } = payment
    const { scheme, network } = accepted
    const before = shop.served()
    interop.proxy.forget()
    const versions = [
      { ...payment, x402Version: 1 },
      { x402Version: 1, scheme, network, payload },
    ]
    for (const old of versions) expect((await fetch(`${shop.url}/cheap`, paying(old))).status).toBe(402)
    expect(interop.proxy.paths()).not.toContain('/verify')
    expect(interop.proxy.paths()).not.toContain('/settle')
    expect(shop.served()).toBe(before)
  })
})

describe('what a seller adds to its offer', () => {
  it('R-014 R-021 reaches the payer, comes back verbatim from the official client, and buys', async () => {
    const { seen, over } = watchedFetch()
    const bought = await buyWithFetch(interop, createPayer(interop), over)(`${talkative.url}/cheap`)
    expect(bought.status).toBe(200)
    const { extra, ...fields } = terms
    const demand = required(seen[0]?.response as Response)
    const offer = offerOf(demand)
    expect(offer).toMatchObject({ ...fields, extra })
    const payment = json(seen[1]?.request.headers.get('PAYMENT-SIGNATURE')) as unknown as PaymentPayload
    expect(JSON.stringify(payment.accepted)).toBe(JSON.stringify(offer))
    for (const { body } of interop.proxy.calls)
      expect(body).not.toMatch(/shop\.example|spoken|A-1|shelf|thought/)
  })

  it('R-014 is in the requirements, and beside them in what the route itself says of the resource', async () => {
    const demand = required(await fetch(`${shop.url}/cheap`))
    const said = { description: 'a cheap thought', mimeType: 'application/json' }
    expect(offerOf(demand)).toMatchObject(said)
    expect(demand.resource).toMatchObject(said)
    expect(demand.resource?.url).toContain('/cheap')
  })
})

describe('unknown keys', () => {
  it('R-171 in a payment are ignored by the shop and by the facilitator', async () => {
    for (const mode of ['permit', 'self-transfer'] as const) {
      const payment = await payOffer(interop, await fetchOffer(`${shop.url}/cheap`), { mode })
      const later = {
        ...payment,
        payload: { ...payment.payload, hint: { of: 'later' } },
        receiptWanted: true,
      }
      const response = await fetch(`${shop.url}/cheap`, paying(later))
      expect(response.status).toBe(200)
      expect(receipt(response).success).toBe(true)
    }
  })

  it('R-171 in a permit are ignored too', async () => {
    const payment = await payOffer(interop, await fetchOffer(`${shop.url}/cheap`))
    const permit = { ...(payment.payload.permit as object), kind: 'ERC-2612' }
    const response = await fetch(
      `${shop.url}/cheap`,
      paying({ ...payment, payload: { ...payment.payload, permit } }),
    )
    expect(response.status).toBe(200)
  })

  it("R-171 in the facilitator's answers do not keep anybody from buying", async () => {
    for (const path of ['/challenge', '/verify', '/settle']) {
      interop.proxy.meet(path, async ({ forward }) => withUnknown(await forward()))
    }
    const bought = await buyWithFetch(interop, createPayer(interop))(`${shop.url}/cheap`)
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } })
    expect(interop.proxy.paths()).toEqual(['/challenge', '/verify', '/settle'])
  })
})

function withUnknown(answer: Answer): Answer {
  return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), added: { in: 'a later version' } }) }
}

function json(header: string | null | undefined): Record<string, unknown> {
  expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8'))
}
