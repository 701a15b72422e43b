import { withSpendControls } from '@svc-zerc20/payer'
import {
  paidTool,
  paymentMeta,
  paymentResponseMeta,
  SvcMcpServer,
  type ToolResult,
} from '@svc-zerc20/resource-server'
import { x402Client } from '@x402/core/client'
import type { PaymentPayload, PaymentRequired, SettleResponse } from '@x402/core/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPayer, modes } from './support/buyers.js'
import { type Interop, network, startInterop } from './support/network.js'
import { schemeFor } from './support/shops.js'

let interop: Interop
beforeAll(async () => {
  interop = await startInterop()
})
beforeEach(() => interop.proxy.reset())
afterAll(() => interop.close())

type Args = { readonly query: string }

function openTool(sells = 'mcp://tool/search', price = '1000') {
  const server = new SvcMcpServer(schemeFor(interop))
  let ran = 0
  const call = paidTool({
    server,
    accepts: [server.accept({ price, sells })],
    resource: { url: sells, description: 'search the archive' },
    handler: ({ query }: Args) => {
      ran += 1
      return { content: [{ type: 'text', text: `found ${query}` }] }
    },
  })
  return {
    ran: () => ran,
    ask: (payment?: PaymentPayload, query = 'cash') =>
      call({ query }, payment === undefined ? {} : { _meta: { [paymentMeta]: payment } }),
  }
}

/** The official client makes the payment, as an MCP client around it would. */
async function payFor(result: ToolResult, mode: (typeof modes)[number] = 'permit'): Promise<PaymentPayload> {
  const client = withSpendControls(new x402Client(), [{ network, asset: interop.token }])
  return client
    .register(network, createPayer(interop, { mode }))
    .createPaymentPayload(result.structuredContent as PaymentRequired)
}

const receiptIn = (result: ToolResult) => result._meta?.[paymentResponseMeta] as SettleResponse

describe('a paid MCP tool', () => {
  it.each(modes)('R-133 R-134 is bought by the official client by %s, with one burn', async (mode) => {
    const tool = openTool()
    const demand = await tool.ask()
    expect(demand.isError).toBe(true)
    expect(interop.proxy.paths()).toEqual(['/challenge'])
    interop.proxy.forget()
    const payment = await payFor(demand, mode)
    const result = await tool.ask(payment)
    expect(result.content).toEqual([{ type: 'text', text: 'found cash' }])
    expect(interop.proxy.paths()).toEqual(['/verify', '/settle'])
    for (const { body } of interop.proxy.calls) expect(body).not.toMatch(/mcp|search|archive|cash/)
    expect(await interop.burnsTo(payment.accepted.payTo)).toEqual([
      { value: 1000n, transactionHash: receiptIn(result).transaction },
    ])
  })

  it('R-135 gives one payment one result: the same call gets it again, and another is refused with the burn', async () => {
    const tool = openTool()
    const payment = await payFor(await tool.ask())
    const result = await tool.ask(payment)
    const { transaction } = receiptIn(result)
    expect(await tool.ask(payment)).toEqual(result)
    const again = await tool.ask(payment, 'gold')
    expect(tool.ran()).toBe(1)
    expect(again.isError).toBe(true)
    expect(JSON.stringify(again.content)).not.toContain('found')
    expect(JSON.stringify(again)).toContain('already_accepted')
    expect(await interop.burnsTo(payment.accepted.payTo)).toEqual([
      { value: 1000n, transactionHash: transaction },
    ])
  })

  it('is not bought with the offer of another tool, and the facilitator hears nothing of the try', async () => {
    const payment = await payFor(await openTool().ask())
    const other = openTool('mcp://tool/train', '250000')
    interop.proxy.forget()
    expect((await other.ask(payment)).isError).toBe(true)
    expect(other.ran()).toBe(0)
    expect(interop.proxy.paths()).toEqual(['/challenge'])
  })
})
