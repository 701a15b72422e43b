import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  accepted,
  burnTx,
  inOrder,
  refused,
  startFacilitator,
  type TestFacilitator,
} from '../../test/facilitator.js'
import { offerOf, paymentFor, schemeFor } from '../../test/shop.js'
import {
  createMemoryAnswers,
  paidTool,
  SvcMcpServer,
  type ToolAnswers,
  type ToolResult,
  type ToolSale,
} from '../index.js'

let facilitator: TestFacilitator
beforeAll(async () => {
  facilitator = await startFacilitator()
})
beforeEach(() => facilitator.reset())
afterAll(() => facilitator.close())

type Args = { query: string }

function openTool(sale: Partial<ToolSale> = {}, handle?: () => ToolResult, options: ToolAnswers = {}) {
  const clock = { now: () => Date.now(), sleep: async () => {} }
  const server = new SvcMcpServer(schemeFor(facilitator.url, { clock }), [], options)
  const sells = sale.sells ?? 'mcp://tool/search'
  const ran: Args[] = []
  const call = paidTool({
    server,
    accepts: [server.accept({ price: '100', sells, ...sale })],
    resource: { url: sells, description: 'search the archive' },
    handler: (args: Args) => {
      ran.push(args)
      return handle?.() ?? { content: [{ type: 'text', text: `found ${args.query}` }] }
    },
  })
  const args = { query: 'x' }
  return {
    ran,
    server,
    ask: () => call(args, {}),
    pay: (payment: unknown, given: Args = args) =>
      call(given, { _meta: { progressToken: 1, 'x402/payment': payment } }),
  }
}

const requiredBy = (result: ToolResult) => result.structuredContent as PaymentRequired
async function paymentAsked(tool: ReturnType<typeof openTool>): Promise<PaymentPayload> {
  const required = requiredBy(await tool.ask())
  facilitator.forget()
  return paymentFor(offerOf(required), required.resource)
}

describe('a paid MCP tool', () => {
  it('R-133 answers an unpaid call with PaymentRequired twice, at the price of one challenge', async () => {
    const tool = openTool()
    const result = await tool.ask()
    expect(result.isError).toBe(true)
    expect(result.content).toHaveLength(1)
    expect(JSON.parse(String(result.content[0]?.text))).toEqual(result.structuredContent)
    expect(requiredBy(result)).toMatchObject({
      x402Version: 2,
      resource: { url: 'mcp://tool/search', description: 'search the archive' },
      accepts: [{ scheme: 'svc-zerc20', amount: '101', extra: { seal: expect.any(String) } }],
    })
    expect(JSON.stringify(result)).not.toContain('template')
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    expect(tool.ran).toEqual([])
  })

  it('R-134 verifies, runs and settles a paid call, and puts the receipt into _meta', async () => {
    const tool = openTool({ description: 'passed on', extra: { sku: 'T-1' } })
    const payment = await paymentAsked(tool)
    expect(payment.accepted).toMatchObject({ description: 'passed on', extra: { sku: 'T-1' } })
    const result = await tool.pay(payment)
    expect(result).toEqual({
      content: [{ type: 'text', text: 'found x' }],
      _meta: { 'x402/payment-response': accepted },
    })
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/verify', '/settle'])
    expect(JSON.stringify(facilitator.calls)).not.toMatch(/mcp:|search|T-1|passed on/)
  })

  it.each<[string, (offer: PaymentRequirements) => object]>([
    ['amount', (offer) => ({ ...offer, amount: '1' })],
    ['payTo', (offer) => ({ ...offer, payTo: `0x${'1'.repeat(40)}` })],
    ['helper', (offer) => ({ ...offer, extra: { ...offer.extra, helper: `0x${'4'.repeat(40)}` } })],
    ['seal', (offer) => ({ ...offer, extra: { ...offer.extra, seal: 'x' } })],
    ['scheme', (offer) => ({ ...offer, scheme: 'exact' })],
  ])('R-151 refuses an echo with a tampered %s before the facilitator', async (_, change) => {
    const tool = openTool()
    const payment = await paymentAsked(tool)
    const result = await tool.pay({ ...payment, accepted: change(payment.accepted) })
    expect(requiredBy(result).error).toBe('No matching payment requirements')
    expect(offerOf(requiredBy(result)).extra.challengeNonce).not.toBe(payment.accepted.extra.challengeNonce)
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    expect(tool.ran).toEqual([])
  })

  it('does not let an offer for one tool buy another, nor one made at a lower price', async () => {
    const payment = await paymentAsked(openTool())
    for (const other of [openTool({ sells: 'mcp://tool/train' }), openTool({ price: '101' })]) {
      expect((await other.pay(payment)).isError).toBe(true)
      expect(other.ran).toEqual([])
    }
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })
    const cheaper = openTool({ price: '99' })
    expect((await cheaper.pay(payment)).isError).toBeUndefined()
  })

  it.each([
    ['of version 1', (payment: PaymentPayload) => ({ ...payment, x402Version: 1 })],
    ['that is no object', () => 'paid'],
    ['without accepted', () => ({ x402Version: 2, payload: {} })],
  ])('R-004 takes a payment %s for none', async (_, change) => {
    const tool = openTool()
    const result = await tool.pay(change(await paymentAsked(tool)))
    expect(requiredBy(result).error).toBe('Payment required')
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })
  })

  it('tells the reason of a payment that does not verify, and does not run', async () => {
    const tool = openTool()
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'insufficient_funds' } })
    const payment = await paymentAsked(tool)
    const { error, accepts } = requiredBy(await tool.pay(payment))
    expect(error).toMatch(/^insufficient_funds: /)
    expect(JSON.stringify(accepts)).not.toContain(payment.accepted.payTo)
    expect(tool.ran).toEqual([])
  })

  it('R-135 withholds the content when settle is refused, with the refusal in _meta', async () => {
    const tool = openTool()
    facilitator.script.settle = () => ({ body: refused('already_accepted', burnTx) })
    const result = await tool.pay(await paymentAsked(tool))
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).not.toContain('found')
    expect(requiredBy(result).error).toMatch(/^already_accepted: /)
    expect(result._meta).toMatchObject({ 'x402/payment-response': refused('already_accepted', burnTx) })
    expect(facilitator.counts()).toMatchObject({ challenge: 1, settle: 1 })
  })

  it('R-012 recovers a pending burn, and else offers nothing: neither a new payment nor the used address', async () => {
    const tool = openTool()
    facilitator.script.settle = inOrder({ body: refused('pending_burn', burnTx) }, { body: accepted })
    expect((await tool.pay(await paymentAsked(tool)))._meta).toEqual({ 'x402/payment-response': accepted })
    facilitator.script.settle = () => ({ body: refused('pending_burn', burnTx) })
    const payment = await paymentAsked(tool)
    const result = await tool.pay(payment)
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).not.toMatch(new RegExp(`accepts|${payment.accepted.payTo}`))
    const text = String(result.content[0]?.text)
    expect(JSON.parse(text)).toMatchObject({ reason: 'pending_burn', transaction: burnTx })
    expect(result._meta).toMatchObject({ 'x402/payment-response': refused('pending_burn', burnTx) })
    expect(facilitator.counts().challenge).toBe(0)
  })

  it('fails, rather than asking for another payment, when settle ends without a verdict', async () => {
    const tool = openTool()
    facilitator.script.settle = () => 'drop'
    facilitator.script.payments = () => 'drop'
    await expect(tool.pay(await paymentAsked(tool))).rejects.toThrow('gave no answer to settle')
  })

  it('does not settle a call whose handler reports an error', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'no index' }] }
    const tool = openTool({}, () => failed)
    expect(await tool.pay(await paymentAsked(tool))).toEqual(failed)
    expect(facilitator.counts()).toMatchObject({ verify: 1, settle: 0 })
  })

  it('settles an upfront tool before it runs', async () => {
    const tool = openTool({ upfront: true })
    const payment = await paymentAsked(tool)
    expect(payment.accepted.extra.paymentFlow).toBe('upfront')
    expect((await tool.pay(payment))._meta).toEqual({ 'x402/payment-response': accepted })
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/settle'])
    facilitator.script.settle = () => ({ body: refused('burn_reverted') })
    expect((await tool.pay(await paymentAsked(tool))).isError).toBe(true)
    expect(tool.ran).toHaveLength(1)
  })
})

describe('a result that was paid for', () => {
  it('is owed to an accepted payment whose handler failed: the call runs again, without settle, until one is kept', async () => {
    for (const answers of [undefined, 'none'] as const) {
      facilitator.reset()
      const failed = { isError: true, content: [{ type: 'text', text: 'no index' }] }
      let runs = 0
      const fail = () => {
        runs += 1
        if (runs === 1) throw new Error('no index')
        return runs === 2 ? failed : { content: [{ type: 'text', text: 'found' }] }
      }
      const tool = openTool({ upfront: true }, fail, answers && { answers })
      const payment = await paymentAsked(tool)
      await expect(tool.pay(payment)).rejects.toThrow('no index')
      facilitator.script.settle = () => ({ body: refused('already_accepted') })
      const _meta = { 'x402/payment-response': accepted }
      const other = await tool.pay(payment, { query: 'y' })
      expect(other.isError).toBe(true)
      expect(JSON.parse(String(other.content[0]?.text))).toMatchObject({ reason: 'payment_owed' })
      expect(runs).toBe(1)
      expect(await tool.pay(payment)).toEqual({ ...failed, _meta })
      const copies = await Promise.all([tool.pay(payment), tool.pay(payment)])
      expect(copies[0]).toEqual({ content: [{ type: 'text', text: 'found' }], _meta })
      if (answers === undefined) expect(copies[1]).toEqual(copies[0])
      else expect(copies[1]?.isError).toBe(true)
      expect(runs).toBe(3)
    }
  })

  it('is owed at the price of then, also after a restart', async () => {
    const answers = createMemoryAnswers()
    const fail = (): ToolResult => ({ isError: true, content: [] })
    const tool = openTool({ upfront: true }, fail, { answers })
    const payment = await paymentAsked(tool)
    expect((await tool.pay(payment)).isError).toBe(true)
    facilitator.script.settle = () => ({ body: refused('already_accepted') })
    const dearer = openTool({ upfront: true, price: '200' }, undefined, { answers })
    expect((await dearer.pay(payment)).content).toEqual([{ type: 'text', text: 'found x' }])
  })

  it('is given again to the same payment for the same call, and to nothing else', async () => {
    const tool = openTool()
    const payment = await paymentAsked(tool)
    const result = await tool.pay(payment)
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'already_accepted' } })
    expect(await tool.pay(structuredClone(payment))).toEqual(result)
    expect(tool.ran).toHaveLength(1)
    const others = [
      () => tool.pay(payment, { query: 'y' }),
      () => tool.pay({ ...payment, payload: { ...payment.payload, more: 1 } }),
    ]
    for (const other of others) expect(requiredBy(await other()).error).toMatch(/^already_accepted: /)
    expect([tool.ran.length, facilitator.counts().settle]).toEqual([1, 1])
  })

  it('runs the tool once for copies of a payment that come at once', async () => {
    const tool = openTool()
    const payment = await paymentAsked(tool)
    const results = await Promise.all(Array.from({ length: 8 }, () => tool.pay(payment)))
    expect(new Set(results.map((result) => JSON.stringify(result)))).toHaveLength(1)
    expect([tool.ran.length, facilitator.counts().settle]).toEqual([1, 1])
  })

  it('is not kept where the seller wants that', async () => {
    const tool = openTool({}, undefined, { answers: 'none' })
    const payment = await paymentAsked(tool)
    await tool.pay(payment)
    await tool.pay(payment)
    expect(tool.ran).toHaveLength(2)
  })
})

describe('the MCP server below other wrappers', () => {
  it('matches a sealed echo against clones of its templates, without a challenge', async () => {
    const tool = openTool()
    const template = tool.server.accept({ price: '100', sells: 'mcp://tool/search' })
    const payment = await paymentAsked(tool)
    const { accepts } = await tool.server.createPaymentRequiredResponse([template], {
      url: 'mcp://tool/search',
    })
    expect(tool.server.findMatchingRequirements(structuredClone(accepts), payment)).toEqual(payment.accepted)
    expect(facilitator.counts().challenge).toBe(0)
  })

  it('throws on a refused settle, because such wrappers serve whatever does not throw', async () => {
    const tool = openTool()
    const payment = await paymentAsked(tool)
    facilitator.script.settle = () => ({ body: refused('burn_reverted') })
    await expect(tool.server.settlePayment(payment, payment.accepted)).rejects.toMatchObject({
      name: 'SettleError',
      errorReason: 'burn_reverted',
    })
  })
})
