/** Calls of the facilitator that served the page. Nothing but the one header says who asks. */

export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const timeoutMs = 60_000

/** Throws `Refused` with the words of the facilitator. */
export async function send(
  path: string,
  {
    token,
    method = 'GET',
    body,
  }: { readonly token?: string; readonly method?: 'GET' | 'POST'; readonly body?: object } = {},
): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.ok) return response
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string }
  throw new Refused(response.status, error ?? `the facilitator answered ${response.status}`)
}
