/**
 * The answer of an express handler whose payment is not accepted yet. The official middleware holds back the body,
 * but headers and status message are written straight to the response. Where they carry what is sold (a signed
 * location, a session cookie), they must not travel with the answer that takes the place of the handler's.
 */

/** As much of the response of node as is held. */
export type Holdable = {
  statusMessage?: string
  getHeaders(): Record<string, number | string | string[] | undefined>
  setHeader(name: string, value: number | string | readonly string[]): unknown
  removeHeader(name: string): void
  writeEarlyHints?: unknown
}

/** Call it right before the handler runs. What it returns takes back all that was said since. */
export function holdAnswer(response: Holdable): () => void {
  const { statusMessage } = response
  const headers = copyOf(response.getHeaders())
  // Early hints leave at once and cannot be taken back. They are a courtesy, so nobody misses them.
  response.writeEarlyHints = (_hints: unknown, done?: () => void) => done?.()
  const methods = replacedMethods(response)
  return () => {
    for (const name of Object.keys(response.getHeaders())) response.removeHeader(name)
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) response.setHeader(name, value)
    }
    // The type knows no undefined, though node starts with it.
    Object.assign(response, { statusMessage })
    // A middleware between us and the handler may have put its own `json` or `end` here, and would speak again.
    for (const name of replacedMethods(response).keys()) Reflect.deleteProperty(response, name)
    Object.assign(response, Object.fromEntries(methods))
  }
}

/** Node appends to the list it gave out. */
function copyOf(headers: ReturnType<Holdable['getHeaders']>): typeof headers {
  const entries = Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]))
}

/** Methods of a response that somebody put in place of those of its kind. */
function replacedMethods(response: object): Map<string, unknown> {
  const usual: object = Object.getPrototypeOf(response)
  return new Map(
    Object.entries(response).filter(([name, value]) => typeof value === 'function' && name in usual),
  )
}
