/**
 * The tools and their arguments, as agents and documents see them. An argument that is not named here is refused. No
 * argument names a key, an endpoint, a host rule, a cap or a mode: those belong to the operator.
 */
import { type ChallengeNonce, Json, parseUrl } from '@svc-zerc20/protocol'
import * as z from 'zod'
import { toolCallMethod } from '../state/payments.js'

const urlCharsMax = 2_048
const bodyCharsMax = 65_536
const headersMax = 20
const headerCharsMax = 1_024
const toolCharsMax = 128

/** Headers that belong to a payment, a proxy or the connection. */
const reserved =
  /^(payment-|x-payment|proxy-|sec-|host$|connection$|content-length$|transfer-encoding$|te$|upgrade$|expect$)/i

const request = z
  .strictObject({
    url: z
      .string()
      .max(urlCharsMax)
      .refine((url) => parseUrl(url) !== undefined, 'expected an http or https URL')
      .describe('http or https URL of the resource or MCP server'),
    method: z
      .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
      .optional()
      .describe('GET, or POST with a body, unless told'),
    headers: z
      .record(
        z.string().refine((name) => !reserved.test(name), 'not for callers to set'),
        z.string().max(headerCharsMax),
      )
      .refine(
        (headers) => Object.keys(headers).length <= headersMax,
        `expected at most ${headersMax} headers`,
      )
      .optional()
      .describe('headers of the request; none that carries a payment'),
    body: z.string().max(bodyCharsMax).optional().describe('body of the request'),
    tool: z
      .string()
      .min(1)
      .max(toolCharsMax)
      .optional()
      .describe('name of a tool to call at an MCP server behind the URL, instead of an HTTP request'),
    arguments: z
      .record(z.string(), z.unknown())
      .refine(
        (given) => Json.nestsWithin(given) && JSON.stringify(given).length <= bodyCharsMax,
        `expected at most ${bodyCharsMax} characters of JSON, and no deep nesting`,
      )
      .optional()
      .describe('arguments of that tool'),
  })
  .refine((given) => given.tool !== undefined || given.arguments === undefined, 'arguments: only with tool')
  .refine(
    (given) => given.tool === undefined || (given.method ?? given.body) === undefined,
    'method and body: not with tool',
  )

/**
 * The request that a call asks for. A tool call becomes one, so that the guard, the totals and the memory of payments treat
 * it as one. Throws if `fetch` could not make it.
 */
export function requestOf(given: z.infer<typeof request>, signal: AbortSignal): Request {
  const { url, headers = {}, body, tool } = given
  if (tool === undefined) {
    const method = given.method ?? (body === undefined ? 'GET' : 'POST')
    return new Request(url, { method, headers, signal, ...(body !== undefined && { body }) })
  }
  const address = new URL(url)
  address.hash = encodeURIComponent(tool)
  const text = JSON.stringify(given.arguments ?? {})
  return new Request(address.href, { method: toolCallMethod, headers, signal, body: text })
}

export const tools = {
  quote: {
    description:
      'Tells what a request or a tool call at another MCP server would cost, and which limits allow it. Pays nothing. It sends the request, so what costs nothing is done.',
    inputSchema: request,
    // It also sends POST, PUT and DELETE.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  pay: {
    description:
      'Makes a request, or a tool call at another MCP server, pays what it asks within the limits, and hands back the answer as data. A payment whose answer was lost is presented again first.',
    inputSchema: request,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  payment_status: {
    description: 'Tells what became of a payment, from the own store and the chain.',
    inputSchema: z.strictObject({
      challengeNonce: z
        .string()
        .regex(/^0x[0-9a-fA-F]{64}$/, 'expected 0x and 64 hex digits')
        .transform((text) => text.toLowerCase() as ChallengeNonce)
        .describe('challenge nonce of the payment, as quote and pay tell it'),
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  budget: {
    description: 'Tells the limits, what was spent, what is reserved and what is left.',
    inputSchema: z.strictObject({}),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
} as const
