import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback, readBody } from './loopback.js'
import { RpcError, rpcErrorCodes } from './rpc-error.js'

/** The outcome of one call: an answer, or trouble with its connection. */
export type Outcome =
  | { kind: 'result'; value: unknown }
  | { kind: 'error'; error: RpcError }
  | { kind: 'httpStatus'; status: number }
  | { kind: 'hang' }
  | { kind: 'dropResponse' }

export type JsonRpcCall = { method: string; params: readonly unknown[] }

export type JsonRpcServer = { port: number; close(): Promise<void> }

const limits = { bodyBytesMax: 16 * 1024 * 1024, batchCallsMax: 5_000, keepAliveMs: 60_000 } as const

/** Serves JSON-RPC 2.0 over HTTP on loopback: single calls, batches and notifications, with keep-alive. */
export async function startJsonRpcServer(dependencies: {
  /** 0 takes a free port. */
  port: number
  /** Called once per HTTP request that carries a readable body. */
  onHttpRequest: () => void
  /** Answers one call. Any error but an `RpcError` becomes an internal error. */
  answer: (call: JsonRpcCall) => Promise<Outcome>
}): Promise<JsonRpcServer> {
  const { port, onHttpRequest, answer } = dependencies

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    const body = await readBody(request, limits.bodyBytesMax)
    if (body === undefined) return void response.writeHead(413).end()
    onHttpRequest()
    const input = parseJson(body)
    if (input === undefined)
      return writeJson(response, 400, failure(null, rpcErrorCodes.parse, 'parse error'))
    const batch: unknown[] | undefined = Array.isArray(input.value) ? input.value : undefined
    if (batch?.length === 0) {
      return writeJson(response, 200, failure(null, rpcErrorCodes.invalidRequest, 'empty batch'))
    }
    if (batch !== undefined && batch.length > limits.batchCallsMax) {
      return writeJson(response, 200, failure(null, rpcErrorCodes.invalidRequest, 'batch too large'))
    }
    const replies = await Promise.all((batch ?? [input.value]).map((call) => reply(call, answer)))
    // Trouble with the connection hits the whole batch.
    const trouble = replies.find((entry) => entry.trouble !== undefined)?.trouble
    if (trouble?.kind === 'hang') return
    if (trouble?.kind === 'dropResponse') return void request.socket.destroy()
    if (trouble?.kind === 'httpStatus') return void response.writeHead(trouble.status).end()
    const bodies = replies.flatMap(({ body }) => body ?? [])
    if (bodies.length === 0) return void response.writeHead(204).end()
    writeJson(response, 200, batch === undefined ? bodies[0] : bodies)
  }

  const server = createServer((request, response) => {
    // Without a listener a caller that goes away in the middle of its request would end the process.
    request.on('error', () => undefined)
    respond(request, response).catch(() => request.socket.destroy())
  })
  server.keepAliveTimeout = limits.keepAliveMs
  return listenOnLoopback(server, port)
}

type Body = { jsonrpc: '2.0'; id: unknown; result?: unknown; error?: unknown }
type Trouble = Exclude<Outcome, { kind: 'result' | 'error' }>

async function reply(
  input: unknown,
  answer: (call: JsonRpcCall) => Promise<Outcome>,
): Promise<{ body?: Body; trouble?: Trouble }> {
  if (
    typeof input !== 'object' ||
    input === null ||
    !('method' in input) ||
    typeof input.method !== 'string'
  ) {
    return { body: failure(null, rpcErrorCodes.invalidRequest, 'invalid request') }
  }
  const params = 'params' in input ? input.params : []
  const id = 'id' in input ? input.id : undefined
  const outcome = Array.isArray(params)
    ? await caught(answer({ method: input.method, params }))
    : await caught(Promise.reject(new RpcError(rpcErrorCodes.invalidParams, 'params must be a list')))
  if (outcome.kind !== 'result' && outcome.kind !== 'error') return { trouble: outcome }
  // A call without an id is a notification: executed, but not answered.
  if (id === undefined) return {}
  if (outcome.kind === 'result') return { body: { jsonrpc: '2.0', id, result: outcome.value ?? null } }
  const { code, message, data } = outcome.error
  return { body: failure(id, code, message, data) }
}

async function caught(outcome: Promise<Outcome>): Promise<Outcome> {
  try {
    return await outcome
  } catch (error) {
    if (error instanceof RpcError) return { kind: 'error', error }
    return { kind: 'error', error: new RpcError(rpcErrorCodes.internal, `internal error: ${error}`) }
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown): Body {
  return { jsonrpc: '2.0', id, error: data === undefined ? { code, message } : { code, message, data } }
}

function writeJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
