/** Calls the administrative surface of a running daemon. */
import { SvcError } from '@svc-zerc20/protocol'

export type AdminClient = {
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>
  post(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>
  /** An answer that is not JSON. */
  text(path: string): Promise<string>
}

const timeoutMs = 10_000

/**
 * Throws `SvcError('admin_unreachable')` when nothing answers there, and `SvcError('admin_refused')` with the
 * daemon's words when it refuses. No error contains the token.
 */
export function createAdminClient({ url, token }: { url: string; token: string | undefined }): AdminClient {
  const targetOf = (path: string) => new URL(`${url.replace(/\/+$/, '')}/admin${path}`)

  async function ask(method: 'GET' | 'POST', path: string, query = {}): Promise<unknown> {
    const target = targetOf(path)
    for (const [key, value] of Object.entries<string | undefined>(query)) {
      if (value !== undefined) target.searchParams.set(key, value)
    }
    const { status, text } = await send(method, target)
    const body = parseJson(text)
    if (status === 200 && body !== undefined) return body
    throw refusal(target, status, body)
  }

  async function askText(path: string): Promise<string> {
    const target = targetOf(path)
    const { status, text } = await send('GET', target)
    if (status === 200) return text
    throw refusal(target, status, parseJson(text))
  }

  function refusal({ host }: URL, status: number, body: unknown): SvcError {
    const said =
      typeof body === 'object' && body && 'error' in body ? String(body.error) : 'no readable answer'
    const hint =
      status === 401
        ? ' Set SVC_ADMIN_TOKEN to the token of this daemon; --config or --url name another one.'
        : ''
    return new SvcError('admin_refused', `${host} answered ${status}: ${said}${hint}`)
  }

  async function send(method: string, target: URL): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(target, {
        method,
        headers: { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        // A redirect would carry the token somewhere else.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new SvcError('admin_unreachable', `no daemon answers at ${target.host}`, { cause })
    }
  }

  return {
    get: (path, query) => ask('GET', path, query),
    post: (path, query) => ask('POST', path, query),
    text: askText,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
