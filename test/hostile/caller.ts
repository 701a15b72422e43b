/** A caller that writes raw bytes from an address of its own. All of 127.0.0.0/8 is this machine. */
import { openSocket } from '../support/raw-socket.js'

const crlf = '\r\n'

export type Heard = {
  /** Status of every answer, in order. */
  readonly statuses: readonly number[]
  readonly text: string
  /** Reasons that answers gave, in order. */
  readonly reasons: readonly string[]
}

/** Writes the bytes and returns everything that came back until the server closed. */
export async function say(origin: string, from: string, bytes: string | Buffer): Promise<Heard> {
  const { socket, closed, text } = await openSocket(origin, from)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  await closed
  return read(text())
}

export function read(text: string): Heard {
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  const reasons = [...text.matchAll(/"(?:invalidReason|errorReason|reason)":"(\w+)"/g)].map(
    ([, reason]) => reason ?? '',
  )
  return { statuses, text, reasons }
}

export const head = (...lines: readonly string[]): string => `${lines.join(crlf)}${crlf}${crlf}`

/** A request that asks for the connection to be closed after it, unless told otherwise. */
export function request(
  method: string,
  path: string,
  {
    headers = [],
    body = '',
    keep = false,
  }: { headers?: readonly string[]; body?: string; keep?: boolean } = {},
): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: facilitator']
  if (body !== '') {
    lines.push(`Content-Length: ${Buffer.byteLength(body, 'latin1')}`)
    if (!headers.some((line) => /^content-type:/i.test(line))) lines.push('Content-Type: application/json')
  }
  return head(...lines, ...headers, ...(keep ? [] : ['Connection: close'])) + body
}

export const challenge = (more: Parameters<typeof request>[2] = {}): string =>
  request('POST', '/challenge', { body: '{"amount":"1"}', ...more })
