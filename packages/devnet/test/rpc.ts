type Answer = { result?: unknown; error?: { code: number; message: string; data?: unknown } }

/** Posts an unchanged body to a node. */
export function post(url: string, body: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' }, ...init })
}

/** One JSON-RPC call over HTTP. Returns the whole answer, errors included. */
export async function call(url: string, method: string, params: unknown[] = []): Promise<Answer> {
  const response = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return (await response.json()) as Answer
}

/** One JSON-RPC call over HTTP that must succeed. */
export async function rpc<T>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const { result, error } = await call(url, method, params)
  if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`)
  return result as T
}
