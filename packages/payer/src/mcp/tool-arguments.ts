/**
 * The arguments of the tools, read strictly: any argument that is not named here is refused. No argument
 * names a key, an endpoint, a host rule, a cap or a mode: those belong to the operator.
 */
import { type ChallengeNonce, Json, parseChallengeNonce } from '@svc-zerc20/protocol'
import { toolCallMethod } from '../payment/payment-memory.js'
import type { Reading } from '../reading.js'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const urlCharsMax = 2_048
const bodyCharsMax = 65_536
const headersMax = 20
const headerCharsMax = 1_024
const toolCharsMax = 128

/** A JSON Schema for an object that has these properties and no others. */
const objectOf = (properties: Record<string, object>, required: readonly string[]) =>
  ({ type: 'object', properties, required: [...required], additionalProperties: false }) as const

export const requestSchema = objectOf(
  {
    url: {
      type: 'string',
      maxLength: urlCharsMax,
      description: 'http or https URL of the resource or MCP server',
    },
    method: { type: 'string', enum: [...methods], description: 'GET, or POST with a body, unless told' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: headerCharsMax },
      maxProperties: headersMax,
      description: 'headers of the request; none that carries a payment',
    },
    body: { type: 'string', maxLength: bodyCharsMax, description: 'body of the request' },
    tool: {
      type: 'string',
      maxLength: toolCharsMax,
      description: 'name of a tool to call at an MCP server behind the URL, instead of an HTTP request',
    },
    arguments: { type: 'object', description: 'arguments of that tool' },
  },
  ['url'],
)

export const statusSchema = objectOf(
  {
    challengeNonce: {
      type: 'string',
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'challenge nonce of the payment, as quote and pay tell it',
    },
  },
  ['challengeNonce'],
)

export const noArguments = objectOf({}, [])

/** The request that a tool call asks for. */
export function readRequest(raw: unknown): Reading<Request> {
  const fault = unknownIn(raw, requestSchema.properties)
  if (fault !== undefined || !Json.isObject(raw)) return { fault: fault ?? 'the arguments are no object' }
  const { url } = raw
  if (typeof url !== 'string' || url.length > urlCharsMax || !URL.canParse(url)) {
    return { fault: 'url: wanted is an http or https URL' }
  }
  const headers = readHeaders(raw.headers)
  if ('fault' in headers) return headers
  return raw.tool === undefined ? httpRequest(raw, url, headers.value) : toolRequest(raw, url, headers.value)
}

export function readNonce(raw: unknown): Reading<ChallengeNonce> {
  const fault = unknownIn(raw, statusSchema.properties)
  if (fault !== undefined) return { fault }
  const nonce = Json.isObject(raw) ? parseChallengeNonce(raw.challengeNonce) : undefined
  return nonce === undefined ? { fault: 'challengeNonce: wanted is 0x and 64 hex digits' } : { value: nonce }
}

export function readNothing(raw: unknown): Reading<undefined> {
  const fault = unknownIn(raw ?? {}, {})
  return fault === undefined ? { value: undefined } : { fault }
}

function unknownIn(raw: unknown, known: object): string | undefined {
  if (!Json.isObject(raw)) return 'the arguments are no object'
  const unknown = Object.keys(raw).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return undefined
  const names = Object.keys(known).join(', ') || 'none'
  return `${unknown.length} unknown arguments; the known ones are ${names}. Limits and keys are set by the operator alone`
}

function httpRequest(raw: Json.JsonObject, url: string, headers: Headers): Reading<Request> {
  const { body, arguments: given } = raw
  if (given !== undefined) return { fault: 'arguments: only with tool' }
  if (body !== undefined && (typeof body !== 'string' || body.length > bodyCharsMax)) {
    return { fault: `body: wanted is a text of at most ${bodyCharsMax} characters` }
  }
  const method = raw.method ?? (body === undefined ? 'GET' : 'POST')
  if (!methods.some((each) => each === method))
    return { fault: `method: wanted is one of ${methods.join(', ')}` }
  return requestOf(url, { method: String(method), headers, ...(body !== undefined && { body }) })
}

/** A tool call as a request, so that the guard, the totals and the memory of payments treat it as one. */
function toolRequest(raw: Json.JsonObject, url: string, headers: Headers): Reading<Request> {
  const { tool, arguments: given = {}, method, body } = raw
  if (method !== undefined || body !== undefined) return { fault: 'method and body: not with tool' }
  if (typeof tool !== 'string' || tool === '' || tool.length > toolCharsMax) {
    return { fault: `tool: wanted is a name of at most ${toolCharsMax} characters` }
  }
  if (!Json.isObject(given) || !Json.nestsWithin(given)) return { fault: 'arguments: wanted is an object' }
  const text = JSON.stringify(given)
  if (text.length > bodyCharsMax) return { fault: `arguments: at most ${bodyCharsMax} characters of JSON` }
  const address = new URL(url)
  address.hash = encodeURIComponent(tool)
  return requestOf(address.href, { method: toolCallMethod, headers, body: text })
}

function requestOf(url: string, init: RequestInit): Reading<Request> {
  try {
    return { value: new Request(url, init) }
  } catch {
    return { fault: 'the request cannot be made: look at the URL, the method and whether it has a body' }
  }
}

/** Headers that belong to a payment, a proxy or the connection. */
const reserved =
  /^(payment-|x-payment|proxy-|sec-|host$|connection$|content-length$|transfer-encoding$|te$|upgrade$|expect$)/i

function readHeaders(raw: unknown): Reading<Headers> {
  if (raw === undefined) return { value: new Headers() }
  const entries = Json.isObject(raw) ? Object.entries(raw) : undefined
  if (entries === undefined || entries.length > headersMax) {
    return { fault: `headers: wanted is an object of at most ${headersMax} texts` }
  }
  const headers = new Headers()
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || value.length > headerCharsMax || reserved.test(name)) {
      return { fault: 'headers: one of them is too long, no text, or not for callers to set' }
    }
    try {
      headers.set(name, value)
    } catch {
      return { fault: 'headers: one of them is no header' }
    }
  }
  return { value: headers }
}
