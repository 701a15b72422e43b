/**
 * A `fetch` that also calls tools of MCP servers. A tool call is a request with its own method. Its
 * answer is put into the words of HTTP: a 402 with the offer in one header, or the receipt in another.
 * Everything above it, the guard included, then treats a paid tool like a paid URL.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpError } from '@modelcontextprotocol/sdk/types.js'
import { type Clock, Json, Offer, Headers as PaymentHeaders } from '@svc-zerc20/protocol'
import { type BodyBounds, boundBody } from '../delivery/bounded-body.js'
import { isRedirect } from '../delivery/redirects.js'
import { PayerError } from '../payer-error.js'
import { toolCallMethod } from '../state/payments.js'
import { version } from '../version.js'

/** Names that the x402 transport for MCP has for a payment and its receipt. */
const paymentMeta = 'x402/payment'
const receiptMeta = 'x402/payment-response'

/** An answer of a paid server is read up to these bounds; the seller may make the resource meanwhile. */
const bounds: BodyBounds = { bytesMax: 16_777_216, idleMsMax: 120_000, totalMsMax: 300_000 }

export function createToolFetch(fetch: typeof globalThis.fetch, clock: Clock): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    return request.method === toolCallMethod ? callTool(request, fetch, clock) : fetch(request)
  }
}

async function callTool(request: Request, fetch: typeof globalThis.fetch, clock: Clock): Promise<Response> {
  const endpoint = new URL(request.url)
  const name = decodeURIComponent(endpoint.hash.slice(1))
  endpoint.hash = ''
  const header = request.headers.get(PaymentHeaders.paymentSignature)
  const payment = header === null ? undefined : PaymentHeaders.decode(header)
  const { signal } = request
  const client = new Client({ name: 'svc-pay', version }, { capabilities: {} })
  const transport = new StreamableHTTPClientTransport(endpoint, {
    fetch: onlyAt(endpoint, fetch, clock, signal),
    requestInit: { headers: withoutPayment(request.headers) },
  })
  try {
    await client.connect(transport as Parameters<Client['connect']>[0], { signal })
    const result = await client.callTool(
      {
        name,
        arguments: (await request.json()) as Record<string, unknown>,
        ...(payment?.ok && { _meta: { [paymentMeta]: payment.value } }),
      },
      undefined,
      { signal, timeout: bounds.totalMsMax },
    )
    return responseTo(result)
  } catch (error) {
    if (signal.aborted || !(error instanceof McpError || error instanceof StreamableHTTPError)) throw error
    // The server answered, but the answer does not tell whether a payment was taken.
    return Response.json({ error: 'the MCP server failed', said: error.message }, { status: 502 })
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** Requests of one call: to the endpoint alone, without redirects, within bounds, and without their own stream. */
function onlyAt(endpoint: URL, fetch: typeof globalThis.fetch, clock: Clock, signal: AbortSignal) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    if (new URL(url).href !== endpoint.href) {
      throw new PayerError('redirect_refused', `the MCP server at ${endpoint.href} leads elsewhere`)
    }
    if (init?.method !== 'POST') return new Response(null, { status: 405 })
    const signals = init.signal ? AbortSignal.any([init.signal, signal]) : signal
    const response = await fetch(url, { ...init, redirect: 'manual', signal: signals })
    if (isRedirect(response)) {
      response.body?.cancel().catch(() => undefined)
      throw new PayerError('redirect_refused', `the MCP server at ${endpoint.href} redirects`)
    }
    return boundBody(response, bounds, clock)
  }
}

function withoutPayment(given: Headers): Headers {
  const headers = new Headers(given)
  headers.delete(PaymentHeaders.paymentSignature)
  headers.delete('content-type')
  return headers
}

/** The result of a tool as an HTTP response. */
function responseTo(result: Json.JsonObject): Response {
  const { content, structuredContent, isError, _meta } = result
  const receipt = Json.isObject(_meta) && Json.isObject(_meta[receiptMeta]) ? _meta[receiptMeta] : undefined
  const headers = new Headers({ 'content-type': 'application/json' })
  if (receipt) headers.set(PaymentHeaders.paymentResponse, PaymentHeaders.encode(receipt))
  const required = isError === true ? requiredIn(structuredContent, content) : undefined
  if (required) headers.set(PaymentHeaders.paymentRequired, PaymentHeaders.encode(required))
  const isRefused =
    required !== undefined || (isError === true && receipt !== undefined && receipt.success !== true)
  const status = isRefused ? 402 : isError === true ? 500 : 200
  const body = JSON.stringify({ content, structuredContent, isError })
  return new Response(body, { status, headers })
}

/** PaymentRequired in the official form: as structured content, or as JSON in the first text. */
function requiredIn(structured: unknown, content: unknown): Json.JsonObject | undefined {
  if (isRequired(structured)) return structured
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  if (!Json.isObject(first) || typeof first.text !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(first.text)
    return isRequired(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isRequired = (value: unknown): value is Json.JsonObject =>
  Json.isObject(value) && value.x402Version === Offer.x402Version && Array.isArray(value.accepts)
