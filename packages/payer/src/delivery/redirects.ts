/** Redirects, followed by hand: a payer must know which URL asks for money, and which redirects led there. */
import { parseUrl } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import type { Target } from '../state/payments.js'

const redirectStatuses = new Set([301, 302, 303, 307, 308])
/** Headers that `fetch` also removes when a redirect leads to another origin. */
const originHeaders = ['authorization', 'cookie', 'proxy-authorization', 'host']
const bodyHeaders = [
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
]

export const isRedirect = (response: Pick<Response, 'status' | 'headers'>): boolean =>
  redirectStatuses.has(response.status) && response.headers.has('location')

export const isSameOrigin = (a: string, b: string): boolean => new URL(a).origin === new URL(b).origin

/** The URL and method a redirect asks for next. */
export function redirectTarget(from: Target, response: Response): Target {
  const location = response.headers.get('location') ?? ''
  const url = parseUrl(location, from.url)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password) {
    throw new PayerError('redirect_refused', `${from.url} leads to no web address`)
  }
  const { status } = response
  const { method } = from
  const isRewritten =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  return { method: isRewritten ? 'GET' : method, url: url.href }
}

/** The request as it goes to a target. Its body goes along unless the method was rewritten. */
export function requestAt(request: Request, target: Target): Request {
  const { method, url } = target
  if (method === request.method && url === request.url)
    return new Request(request.clone(), { redirect: 'manual' })
  const headers = new Headers(request.headers)
  const hasBody = method === request.method && request.body !== null
  if (!hasBody) for (const name of bodyHeaders) headers.delete(name)
  if (!isSameOrigin(url, request.url)) for (const name of originHeaders) headers.delete(name)
  const { signal, credentials, referrerPolicy, keepalive } = request
  const init: RequestInit & { duplex?: 'half' } = {
    method,
    headers,
    signal,
    credentials,
    referrerPolicy,
    keepalive,
    redirect: 'manual',
    ...(hasBody && { body: request.clone().body, duplex: 'half' }),
  }
  return new Request(url, init)
}
