/** Whole HTTP requests, good and bad, and one way to send them. */
import { type Agent, request } from 'node:http'
import fc from 'fast-check'
import { challengeBodies, hex, paymentBodies } from './bodies.js'
import type { Payment } from './payments.js'

export type FuzzRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Sent in pieces without a length. */
  readonly chunked: boolean
}

/** Status 0: the connection broke before an answer came. */
export type FuzzAnswer = { readonly status: number; readonly text: string }

const contentTypes = fc.oneof(
  { weight: 20, arbitrary: fc.constant('application/json') },
  fc.constantFrom('application/json; charset=utf-8', 'application/json;charset=utf-16', 'APPLICATION/JSON'),
  fc.constantFrom(
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
    ';',
  ),
)

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string>>(
    { 'x-forwarded-for': '1.2.3.4, ::1, nonsense' },
    { 'x-forwarded-for': 'a'.repeat(4_000) },
    { 'content-encoding': 'gzip' },
    { accept: 'text/html', 'accept-encoding': 'br' },
    { authorization: `Bearer ${'x'.repeat(4_000)}` },
    { host: 'elsewhere.example' },
    { expect: '100-continue' },
    { cookie: 'a=b; '.repeat(500) },
    { 'x-http-method-override': 'DELETE' },
    { __proto__: 'x', constructor: 'y' },
  ),
)

const paths = (payments: readonly Payment[]) =>
  fc.oneof(
    fc.constantFrom(
      '/supported',
      '/challenge',
      '/verify',
      '/settle',
      '/',
      '//',
      '/%',
      '/%00',
      '/admin/x',
      '/../x',
    ),
    fc.constantFrom(
      '/settle/',
      '/SETTLE',
      '/settle?x=1',
      '/settle%20',
      '/payments',
      '/payments/',
      '/payments/0x',
    ),
    fc.constantFrom(
      '/constructor',
      '/__proto__',
      '/payments/__proto__',
      '/payments/%ff',
      '/payments/a/b',
      '*',
    ),
    fc.constantFrom(...payments).map(({ challengeNonce }) => `/payments/${challengeNonce}`),
    hex(32).map((nonce) => `/payments/${nonce}`),
    fc
      .nat({ max: 40 })
      .chain(hex)
      .map((nonce) => `/payments/${nonce}`),
    fc.constantFrom(100, 200, 4_000, 10_000).map((length) => `/payments/0x${'a'.repeat(length)}`),
    fc.webPath().map((path) => (path.startsWith('/') ? path : `/${path}`)),
    fc.webQueryParameters().map((query) => `/supported?${query}`),
  )

const methods = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'PROPFIND',
)

/** Most go where payments go; the others to every path with every method. */
export function requests(payments: readonly Payment[]): fc.Arbitrary<FuzzRequest> {
  const common = { headers: oddHeaders, type: contentTypes, chunked: fc.nat(9).map((n) => n === 0) }
  const bodies = paymentBodies(payments)
  const payment = fc.record({
    ...common,
    method: fc.constant('POST'),
    path: fc.constantFrom('/verify', '/settle'),
    body: bodies,
  })
  const challenge = fc.record({
    ...common,
    method: fc.constant('POST'),
    path: fc.constant('/challenge'),
    body: challengeBodies,
  })
  const anything = fc.record({
    ...common,
    method: methods,
    path: paths(payments),
    body: fc.oneof(fc.constant(Buffer.alloc(0)), bodies),
  })
  return fc
    .oneof(
      { weight: 7, arbitrary: payment },
      { weight: 1, arbitrary: challenge },
      { weight: 2, arbitrary: anything },
    )
    .map(({ type, headers, ...rest }) => ({ ...rest, headers: { ...headers, 'content-type': type } }))
}

export function send(origin: string, agent: Agent, { method, path, headers, body, chunked }: FuzzRequest) {
  return new Promise<FuzzAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const length = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': `${body.length}` }
    const options = { hostname, port, method, path, agent, headers: { ...headers, ...length } }
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.on('error', () => resolve({ status: 0, text: '' }))
    outgoing.end(body)
  })
}

/** A request as a person would want to read it in a failure. */
export function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  const shown = body.length > 2_000 ? `${body.subarray(0, 2_000)}… (${body.length} bytes)` : `${body}`
  return `${method} ${path} ${JSON.stringify(headers)}\n${shown}`
}
