/** One facilitator over HTTP: its URL, our credential for it, and bounds on the size and time of its answers. */
import { Json, parseUrl, SvcError } from '@svc-zerc20/protocol'

export type Fetch = typeof globalThis.fetch

export type Reply = {
  readonly status: number
  /** The parsed JSON body; undefined when it is not JSON. */
  readonly body: unknown
  readonly retryAfterSeconds?: number
}

export type Endpoint = {
  /** Rejects on a timeout, an incomplete answer, or a redirect. */
  get(path: string, timeoutMs: number): Promise<Reply>
  post(path: string, body: object, timeoutMs: number): Promise<Reply>
}

export type EndpointOptions = {
  readonly facilitatorUrl: string
  readonly facilitatorToken?: string | undefined
  readonly fetch: Fetch
  readonly limits: { readonly answerBytesMax: number }
}

export function openEndpoint({ fetch, limits, ...where }: EndpointOptions): Endpoint {
  const { url, authorization } = parseEndpoint(where)
  const headers = { accept: 'application/json', ...(authorization && { authorization }) }
  async function call(path: string, init: RequestInit, timeoutMs: number): Promise<Reply> {
    // Redirects are refused: following one would give the credential to another address.
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}${path}`, { ...init, redirect: 'error', signal })
    const text = await readText(response, limits.answerBytesMax)
    const retryAfter = Number(response.headers.get('retry-after'))
    return {
      status: response.status,
      body: parseJson(text),
      ...(retryAfter > 0 && Number.isFinite(retryAfter) && { retryAfterSeconds: Math.ceil(retryAfter) }),
    }
  }
  return {
    get: (path, timeoutMs) => call(path, { headers }, timeoutMs),
    post: (path, body, timeoutMs) =>
      call(
        path,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
        timeoutMs,
      ),
  }
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new SvcError('answer_too_large', `more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return Json.nestsWithin(value) ? value : undefined
  } catch {
    return undefined
  }
}

type Where = Pick<EndpointOptions, 'facilitatorUrl' | 'facilitatorToken'>

/** Moves credentials from the URL into a header: fetch refuses URLs with credentials and prints them in its error. */
function parseEndpoint({ facilitatorUrl, facilitatorToken }: Where): { url: string; authorization?: string } {
  const parsed = parseUrl(facilitatorUrl)
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search + parsed.hash !== '') {
    throw new SvcError('invalid_facilitator_url', 'facilitatorUrl must be a plain http or https URL')
  }
  const url = `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  const hasUser = parsed.username !== '' || parsed.password !== ''
  if (facilitatorToken === undefined) {
    if (!hasUser) return { url }
    const credentials = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
    return { url, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  }
  if (hasUser) {
    throw new SvcError(
      'two_facilitator_credentials',
      'give facilitatorToken or credentials in the URL, not both',
    )
  }
  // Checked here, because fetch prints an invalid header value in its error.
  if (!/^[\w.~+/-]+=*$/.test(facilitatorToken)) {
    throw new SvcError(
      'invalid_facilitator_token',
      'facilitatorToken is no bearer token: it is empty or has a character that none may have',
    )
  }
  return { url, authorization: `Bearer ${facilitatorToken}` }
}
