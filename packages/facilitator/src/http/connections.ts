/** What one caller may do to a server by holding connections: for how long, and how many. */
import type { Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { rateLimitKey } from './rate-limit.js'

export type ConnectionBounds = {
  /** The head of a request is there so long after its connection, or after its first byte on a kept one. */
  readonly headMs: number
  /** The whole request is. */
  readonly requestMs: number
  /** Pause between two looks for requests that take longer. Node's own default makes every bound 30 s vaguer. */
  readonly lookMs: number
  /** A connection between two requests is kept so long. */
  readonly keptMs: number
  /** Nothing is sent and nothing is read for so long: longer than any answer takes to make. */
  readonly silentMs: number
  readonly max: number
  /** Undefined: callers are not told apart, because all of them come through a proxy. */
  readonly perCallerMax: number | undefined
}

export type Connections = {
  open(): number
  /** Connections closed at once, because there were too many. */
  refused(): number
}

/** The bounds in time, as options of Fastify. */
export const timeoutsOf = (bounds: ConnectionBounds) => ({
  requestTimeout: bounds.requestMs,
  connectionTimeout: bounds.silentMs,
  keepAliveTimeout: bounds.keptMs,
  http: {
    headersTimeout: bounds.headMs,
    connectionsCheckingInterval: bounds.lookMs,
  } satisfies ServerOptions,
})

/** The bounds in number. Whoever is over them is cut off without a word: an answer would cost what it asks for. */
export function limitConnections(server: Server, { max, perCallerMax }: ConnectionBounds): Connections {
  const byCaller = new Map<string, number>()
  let refused = 0
  let open = 0
  server.maxConnections = max
  server.on('drop', () => {
    refused += 1
  })
  server.on('connection', (socket: Socket) => {
    const caller = rateLimitKey(socket.remoteAddress)
    const held = byCaller.get(caller) ?? 0
    if (perCallerMax !== undefined && held >= perCallerMax) {
      refused += 1
      socket.destroy()
      return
    }
    open += 1
    byCaller.set(caller, held + 1)
    socket.once('close', () => {
      open -= 1
      const left = (byCaller.get(caller) ?? 1) - 1
      if (left === 0) byCaller.delete(caller)
      else byCaller.set(caller, left)
    })
  })
  return { open: () => open, refused: () => refused }
}
