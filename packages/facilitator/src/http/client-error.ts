/** Answers bytes that are not an HTTP request: there is no request to reply to, only a socket. */
import type { Socket } from 'node:net'
import { reject } from '@svc-zerc20/protocol'

/** Everything else the parser refuses is a plain 400. */
const statusByCode: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // The caller is gone and would not hear an answer.
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { reason, message } = reject('malformed_request', 'this is no HTTP request the server can read')
  const body = JSON.stringify({ error: message, reason })
  const status = statusByCode[error.code ?? ''] ?? '400 Bad Request'
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}
