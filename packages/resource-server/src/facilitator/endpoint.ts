/**
 * The facilitator over HTTP: its URLs, our credential for it, and bounds on the size and time of its answers. Several daemons
 * may share its ledger, of which one is active: that one is remembered, and looked for where another one says `standby`.
 */
import { type Clock, Json, parseUrl, type ReasonCode, SvcError } from '@svc-zerc20/protocol'
import { readProblem, readSettlement, readVerdict } from './answers.js'

export type Fetch = typeof globalThis.fetch

export type Reply = {
  readonly status: number
  /** The parsed JSON body; undefined when it is not JSON. */
  readonly body: unknown
  readonly retryAfterSeconds?: number
}

export type Endpoint = {
  /** Where it is looked for, without credentials. */
  readonly where: string
  /** Rejects on a timeout, an incomplete answer, a redirect, or when no daemon takes the connection. */
  get(path: string, timeoutMs: number): Promise<Reply>
  post(path: string, body: object, timeoutMs: number): Promise<Reply>
}

export type EndpointOptions = {
  /** In the order in which they are tried. A text may name several, as a variable of the environment does: with a comma between. */
  readonly facilitatorUrl: string | readonly string[]
  readonly facilitatorToken?: string | undefined
  readonly fetch: Fetch
  readonly clock: Clock
  readonly limits: { readonly answerBytesMax: number }
}

export function openEndpoint({
  facilitatorUrl,
  facilitatorToken,
  clock,
  ...options
}: EndpointOptions): Endpoint {
  const daemons = listed(facilitatorUrl).map((url) => parseDaemon(url, facilitatorToken))
  /** The daemon that was active when it was asked last. */
  let active = 0

  /** Asks one daemon after the other until one has an answer of its own. Rejects when none takes the connection. */
  async function askAround(path: string, init: RequestInit, timeoutMs: number): Promise<Reply> {
    const endsAtMs = clock.now() + timeoutMs
    let standby: Reply | undefined
    let refused: unknown
    for (let tried = 0; tried < daemons.length; tried++) {
      const daemon = daemons[active] as Daemon
      try {
        const reply = await callOne(daemon, path, init, {
          ...options,
          timeoutMs: Math.max(1, Math.floor(endsAtMs - clock.now())),
        })
        if (!isOf('standby', reply)) return reply
        standby = reply
        goOn(daemon)
      } catch (error) {
        // Where nothing was sent, nothing has happened. Otherwise the caller decides, and the next call begins elsewhere.
        goOn(daemon)
        if (!isRefusedConnection(error)) throw error
        refused = error
      }
    }
    if (standby) return standby
    throw refused
  }

  /** Unless another call has found the active one meanwhile. */
  function goOn(from: Daemon): void {
    if (daemons[active] === from) active = (active + 1) % daemons.length
  }

  /** While daemons are there and none is active, one of them takes over. A call is worth the wait, as far as its time allows. */
  async function call(path: string, init: RequestInit, timeoutMs: number): Promise<Reply> {
    const endsAtMs = clock.now() + timeoutMs
    for (;;) {
      const reply = await askAround(path, init, Math.max(1, Math.floor(endsAtMs - clock.now())))
      const pauseMs = 1_000 * (reply.retryAfterSeconds ?? Number.POSITIVE_INFINITY)
      if (!isOf('standby', reply) || clock.now() + pauseMs >= endsAtMs) return reply
      await clock.sleep(pauseMs)
    }
  }

  return {
    where: daemons.map(({ url }) => url).join(' or '),
    get: (path, timeoutMs) => call(path, {}, timeoutMs),
    post: (path, body, timeoutMs) =>
      call(
        path,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
        timeoutMs,
      ),
  }
}

/** Whether it refuses with 503 and this reason, in whichever shape the endpoint has. */
export function isOf(wanted: ReasonCode, { status, body }: Reply): boolean {
  const reason =
    readProblem(body).reason ?? readVerdict(body)?.invalidReason ?? readSettlement(body)?.errorReason
  return status === 503 && reason === wanted
}

/** Codes of Node for a connection that was never there. */
const refusals = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && refusals.has((error.cause as { code?: string } | undefined)?.code ?? '')

type Daemon = { readonly url: string; readonly authorization?: string }

async function callOne(
  { url, authorization }: Daemon,
  path: string,
  init: RequestInit,
  { fetch, limits, timeoutMs }: Pick<EndpointOptions, 'fetch' | 'limits'> & { readonly timeoutMs: number },
): Promise<Reply> {
  const headers = { accept: 'application/json', ...(authorization && { authorization }), ...init.headers }
  // Redirects are refused: following one would give the credential to another address.
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'error', signal })
  const text = await readText(response, limits.answerBytesMax)
  const retryAfter = Number(response.headers.get('retry-after'))
  return {
    status: response.status,
    body: parseJson(text),
    ...(retryAfter > 0 && Number.isFinite(retryAfter) && { retryAfterSeconds: Math.ceil(retryAfter) }),
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

/** A comma may also stand in a password. */
const listed = (urls: string | readonly string[]): readonly string[] =>
  typeof urls === 'string' ? urls.split(/[\s,]+(?=https?:)/) : urls

/** Moves credentials from the URL into a header: fetch refuses URLs with credentials and prints them in its error. */
function parseDaemon(facilitatorUrl: string, facilitatorToken: string | undefined): Daemon {
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
