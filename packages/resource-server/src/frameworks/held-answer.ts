/**
 * Undoes what an express handler wrote before its payment was accepted. The official middleware holds back the body,
 * but headers and status message go straight to the response. They may contain what is sold, such as a signed location
 * or a session cookie, so they must be removed when a refusal replaces the handler's answer.
 */

/** The parts of Node's response that are used here. */
export type Holdable = {
  statusMessage?: string
  getHeaders(): Record<string, number | string | string[] | undefined>
  setHeader(name: string, value: number | string | readonly string[]): unknown
  removeHeader(name: string): void
  writeEarlyHints?: unknown
}

/** Call it right before the handler runs. The returned function restores the response to that moment. */
export function holdAnswer(response: Holdable): () => void {
  const { statusMessage } = response
  const headers = copyOf(response.getHeaders())
  // Early hints are sent at once and cannot be undone. They are optional, so they are dropped.
  response.writeEarlyHints = (_hints: unknown, done?: () => void) => done?.()
  const methods = replacedMethods(response)
  return () => {
    for (const name of Object.keys(response.getHeaders())) response.removeHeader(name)
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) response.setHeader(name, value)
    }
    // `Object.assign`, because the type excludes undefined although Node starts with it.
    Object.assign(response, { statusMessage })
    // A middleware between us and the handler may have replaced `json` or `end`. Its replacement must not run again.
    for (const name of replacedMethods(response).keys()) Reflect.deleteProperty(response, name)
    Object.assign(response, Object.fromEntries(methods))
  }
}

/** Copies the lists too, because Node later appends to the lists that it returned. */
function copyOf(headers: ReturnType<Holdable['getHeaders']>): typeof headers {
  const entries = Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]))
}

/** Methods that somebody set on this response in place of its prototype's. */
function replacedMethods(response: object): Map<string, unknown> {
  const usual: object = Object.getPrototypeOf(response)
  return new Map(
    Object.entries(response).filter(([name, value]) => typeof value === 'function' && name in usual),
  )
}
