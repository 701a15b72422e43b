/** Limits on connections: how long each may last, and how many a caller may have. */
import type { Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { callerKey } from './caller-key.js'
import { createHeldConnections } from './held-connections.js'

export type ConnectionBounds = {
  /** Time for the head of a request, from the connection's start, or from the first byte on a kept connection. */
  readonly headMs: number
  /** Time for the whole request, from the same moment. */
  readonly requestMs: number
  /** Pause between two checks of these times. Node's own default would make every bound 30 s less exact. */
  readonly lookMs: number
  /** How long a connection is kept between two requests. */
  readonly keptMs: number
  /** A connection without any traffic for this long is closed. Longer than any answer takes. */
  readonly silentMs: number
  readonly max: number
  /** Connections of one caller. Undefined when all callers come through a proxy and cannot be told apart. */
  readonly perCallerMax: number | undefined
}

export type Connections = {
  /** Connections that are open now. */
  open(): number
  /** Connections closed at once, because there were too many. */
  refused(): number
}

/** The time limits, as options of Fastify. */
export const timeoutsOf = (bounds: ConnectionBounds) => ({
  requestTimeout: bounds.requestMs,
  connectionTimeout: bounds.silentMs,
  keepAliveTimeout: bounds.keptMs,
  http: {
    headersTimeout: bounds.headMs,
    connectionsCheckingInterval: bounds.lookMs,
  } satisfies ServerOptions,
})

/**
 * Enforces the limits on the number of connections. A new connection replaces an idle one, or a request that is still
 * arriving from the caller with the most connections: few callers with slow requests could otherwise take all of them.
 * If all are being answered, the new one is closed without an answer, because an answer would cost as much as the request.
 */
export function limitConnections(server: Server, { max, perCallerMax }: ConnectionBounds): Connections {
  const held = createHeldConnections()
  let refused = 0

  /** A caller with too many connections loses one of its own, never one of another caller. */
  function hasRoomFor(caller: string): boolean {
    if (perCallerMax !== undefined && held.countOf(caller) >= perCallerMax) return held.endOldestIdle(caller)
    return held.count() < max || held.endOldestIdle() || held.endLargestArriving(caller)
  }

  server.on('connection', (socket: Socket) => {
    const caller = callerKey(socket.remoteAddress)
    if (hasRoomFor(caller)) {
      held.add(socket, caller)
      return
    }
    refused += 1
    socket.destroy()
  })
  server.prependListener('request', (request, response) => {
    const { socket } = request
    held.begin(socket, request)
    response.once('close', () => held.end(socket, request))
  })
  return { open: held.count, refused: () => refused }
}
