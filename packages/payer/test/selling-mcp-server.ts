import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Headers } from '@svc-zerc20/protocol'

export type ToolReply = Record<string, unknown>

/**
 * An MCP server whose tool `search` is sold by the paywall at `url`: it puts the paywall's answers into the official form of
 * x402 over MCP. `reply` answers instead where it gives something.
 */
export async function startSellingMcpServer(
  url: string,
  reply: (payment: unknown) => ToolReply | undefined = () => undefined,
) {
  const called: { readonly arguments: unknown; readonly payment: unknown }[] = []

  async function sell(payment: unknown): Promise<ToolReply> {
    const headers =
      payment === undefined ? {} : { [Headers.paymentSignature]: Headers.encode(payment as object) }
    const answer = await fetch(url, { headers })
    const read = (name: string) => {
      const decoded = Headers.decode(answer.headers.get(name))
      return decoded.ok ? decoded.value : undefined
    }
    const receipt = read(Headers.paymentResponse)
    const _meta = receipt === undefined ? {} : { 'x402/payment-response': receipt }
    const required = read(Headers.paymentRequired)
    if (answer.status === 402 && required !== undefined) {
      return { isError: true, structuredContent: required, content: [text(JSON.stringify(required))], _meta }
    }
    return { isError: answer.status !== 200, content: [text(await answer.text())], _meta }
  }

  function createTools(): Server {
    const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const payment = params._meta?.['x402/payment']
      called.push({ arguments: params.arguments, payment })
      return reply(payment) ?? (await sell(payment))
    })
    return server
  }

  const http = createServer((request, response) => {
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void transport.close())
    createTools()
      .connect(transport as Parameters<Server['connect']>[0])
      .then(() => transport.handleRequest(request, response))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    called,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

const text = (content: string) => ({ type: 'text', text: content })
