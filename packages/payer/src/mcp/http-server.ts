/**
 * The tools over streamable HTTP, on this machine alone. Every request needs the bearer token, which a page
 * in a browser cannot send. Requests under another host name that was pointed here are refused.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js'

const host = '127.0.0.1'
const path = '/mcp'
const bodyBytesMax = 1_048_576
/**
 * Most clients at once. The one that was silent for longest makes room, unless it has a connection: a client that comes
 * again without a word of goodbye has none.
 */
const sessionsMax = 32

type Session = { readonly transport: StreamableHTTPServerTransport; connections: number }

export type HttpTools = { readonly url: string; close(): Promise<void> }

export async function serveHttp({
  port,
  token,
  serve: serveClient,
}: {
  /** 0 takes a free port. */
  readonly port: number
  readonly token: string
  /** Serves the tools to one client. */
  readonly serve: (transport: Transport) => Promise<unknown>
}): Promise<HttpTools> {
  /** In the order of their last use. */
  const sessions = new Map<string, Session>()

  async function makeRoom(): Promise<boolean> {
    if (sessions.size < sessionsMax) return true
    const [left] = [...sessions].filter(([, { connections }]) => connections === 0)
    if (left === undefined) return false
    const [id, { transport }] = left
    sessions.delete(id)
    await transport.close()
    return true
  }

  async function openSession(): Promise<StreamableHTTPServerTransport | undefined> {
    if (!(await makeRoom())) return undefined
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { transport, connections: 0 }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await serveClient(transport as Transport)
    return transport
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = faultOf(request, token, (server.address() as AddressInfo).port)
    if (fault !== undefined) return refuse(response, fault)
    const body = request.method === 'POST' ? await readBody(request) : { json: undefined }
    if (body === undefined) return refuse(response, 413)
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && session) {
      sessions.delete(id)
      sessions.set(id, session)
      session.connections += 1
      response.once('close', () => (session.connections -= 1))
    }
    if (id !== undefined && !session) return refuse(response, 404)
    if (!session && !isInitializeRequest(body.json)) return refuse(response, 400)
    const transport = session?.transport ?? (await openSession())
    if (transport === undefined) return refuse(response, 503)
    response.once('close', () => response.writableFinished || leave(transport, body.json))
    await transport.handleRequest(request, response, body.json)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => (response.headersSent ? response.destroy() : refuse(response, 500)))
  })
  await new Promise<void>((ready, failed) => server.once('error', failed).listen(port, host, ready))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}${path}`,
    async close() {
      for (const { transport } of sessions.values()) await transport.close()
      await new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      })
    },
  }
}

/**
 * A client whose connection broke has left its calls: their answers cannot reach it. They end as cancelled ones do, which
 * keeps what was bought for the next call.
 */
function leave({ onmessage }: StreamableHTTPServerTransport, body: unknown): void {
  for (const { id: requestId } of [body].flat().filter(isJSONRPCRequest)) {
    onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  }
}

/** The status that refuses a request before its body is read. */
function faultOf({ headers, url }: IncomingMessage, token: string, port: number): number | undefined {
  if (![`${host}:${port}`, `localhost:${port}`].includes(headers.host ?? '')) return 403
  // Only browsers send an origin, and no page is a client of this server.
  if (headers.origin !== undefined) return 403
  if (!isSame(headers.authorization ?? '', `Bearer ${token}`)) return 401
  return url === path ? undefined : 404
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))

function refuse(response: ServerResponse, status: number): void {
  const headers = { connection: 'close', ...(status === 401 && { 'www-authenticate': 'Bearer' }) }
  response.writeHead(status, headers).end()
}

/** The body as JSON. Undefined when the body is too long; without a value when it is not JSON. */
async function readBody(request: IncomingMessage): Promise<{ readonly json: unknown } | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bodyBytesMax) return undefined
    parts.push(part)
  }
  try {
    return { json: JSON.parse(Buffer.concat(parts).toString('utf8')) }
  } catch {
    return { json: undefined }
  }
}
