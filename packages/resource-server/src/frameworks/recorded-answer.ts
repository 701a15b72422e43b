/**
 * Records what goes out through a response of Node, and holds it until it was kept. The official middleware has held the
 * whole answer in memory before, so nothing is delayed by more than the keeping.
 */
import type { ServedAnswer } from '../served/served.js'

/** The parts of Node's response that are used here. */
export type Recordable = {
  statusCode: number
  statusMessage?: string
  getHeaders(): Record<string, number | string | string[] | undefined>
  setHeader(name: string, value: number | string | readonly string[]): unknown
  writeHead(...args: unknown[]): unknown
  write(...args: unknown[]): unknown
  end(...args: unknown[]): unknown
  flushHeaders(): unknown
  once(event: 'close', listener: () => void): unknown
}

/** Calls `keep` with the whole answer once it is complete, and sends the answer when that has resolved. */
export function recordAnswer(response: Recordable, keep: (answer: ServedAnswer) => Promise<void>): void {
  const { writeHead, write, end, flushHeaders } = response
  const chunks: Buffer[] = []
  const callbacks: (() => void)[] = []
  let isEnded = false
  const take = (args: unknown[]) => {
    const [chunk, encoding] = args
    const callback = args.find((arg) => typeof arg === 'function')
    if (callback !== undefined) callbacks.push(callback as () => void)
    if (typeof chunk === 'string') {
      chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'))
    } else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }
  response.writeHead = (status, ...rest) => {
    response.statusCode = Number(status)
    for (const arg of rest) {
      if (typeof arg === 'string') response.statusMessage = arg
      else for (const [name, value] of headersIn(arg)) response.setHeader(name, value)
    }
    return response
  }
  response.write = (...args) => {
    take(args)
    return true
  }
  response.flushHeaders = () => {}
  response.end = (...args) => {
    if (isEnded) return response
    isEnded = true
    take(args)
    const body = Buffer.concat(chunks)
    void keep({ status: response.statusCode, headers: headersOf(response), body }).then(() => {
      Object.assign(response, { writeHead, write, end, flushHeaders })
      const done = () => {
        for (const callback of callbacks) callback()
      }
      response.end(...(body.length > 0 ? [body, done] : [done]))
      // A handler that was given up may still write. Node would end the process for a byte after the end.
      Object.assign(response, { write: () => false, end: () => response })
    })
    return response
  }
}

/** Writes a kept answer. */
export function writeAnswer(response: Recordable, { status, headers, body }: ServedAnswer): void {
  response.statusCode = status
  for (const [name, value] of headers) response.setHeader(name, value)
  response.end(...(body.length > 0 ? [body] : []))
}

const headersOf = (response: Recordable): ServedAnswer['headers'] =>
  Object.entries(response.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'number' ? String(value) : value] as const],
  )

/** The headers that `writeHead` was given: an object, or a list of names and values in turn. */
function headersIn(given: unknown): [string, string | string[]][] {
  if (!Array.isArray(given)) return Object.entries(given ?? {})
  const flat: string[] = given.flat()
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as [string, string]] : []))
}
