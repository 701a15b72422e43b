/** Calls the administrative surface of a running daemon. */
import { SvcError } from '@svc-zerc20/protocol'
import type * as z from 'zod'
import { limits } from '../../config/limits.js'
import * as schemas from '../../http/admin/schemas.js'

export type AdminClient = {
  get: Ask
  post: Ask
  /** An answer that is not JSON. */
  text(path: string): Promise<string>
}

type Query = Readonly<Record<string, string | undefined>>
/** An answer of another form does not come from this daemon. */
type Ask = <T extends z.ZodType>(path: string, schema: T, query?: Query) => Promise<z.output<T>>

/**
 * Throws `SvcError('admin_unreachable')` when nothing answers there, and `SvcError('admin_refused')` with the
 * daemon's words when it refuses. No error contains the token.
 */
export function createAdminClient({ url, token }: { url: string; token: string | undefined }): AdminClient {
  const refused = (message: string) => new SvcError('admin_refused', message)

  async function send(method: 'GET' | 'POST', path: string, query: Query = {}): Promise<string> {
    const target = new URL(`${url.replace(/\/+$/, '')}/admin${path}`)
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) target.searchParams.set(key, value)
    }
    const { status, text } = await fetch(target, {
      method,
      headers: { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      // A redirect would carry the token somewhere else.
      redirect: 'error',
      signal: AbortSignal.timeout(limits.adminAnswerMs),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (cause) => {
        throw new SvcError('admin_unreachable', `no daemon answers at ${target.host}`, { cause })
      },
    )
    if (status === 200) return text
    const said = Object(parseJson(text)).error ?? 'no readable answer'
    const hint =
      status === 401
        ? ' Set SVC_ADMIN_TOKEN to the token of this daemon; --config or --url name another one.'
        : ''
    throw refused(`${target.host} answered ${status}: ${said}${hint}`)
  }

  const ask =
    (method: 'GET' | 'POST'): Ask =>
    async (path, schema, query) => {
      const answer = parseJson(await send(method, path, query))
      const { error } = schema.safeParse(answer)
      if (error) {
        const [{ path: field, message } = { path: [], message: '' }] = error.issues
        throw refused(`${url}, /admin${path}: ${field.join('.') || 'the answer'}: ${message}`)
      }
      return answer as z.output<typeof schema>
    }

  return { get: ask('GET'), post: ask('POST'), text: (path) => send('GET', path) }
}

/** The status of a daemon whose ledger answers. Throws while it does not. */
export async function statusWithFees(client: AdminClient) {
  const { fees, ...status } = await client.get('/status', schemas.status)
  if (fees === undefined) throw new SvcError('ledger_failed', 'the ledger of the daemon does not answer')
  return { ...status, fees }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
