/** The bounds of what one caller may do to a server by holding connections: for how long, and how many. */
import type { Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { callerKey } from './caller-key.js'
import { createHeldConnections } from './held-connections.js'

export type ConnectionBounds = {
  /** The head of a request must be there so long after its connection, or after its first byte on a kept one. */
  readonly headMs: number
  /** The whole request must be there so long after the same moment. */
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
  /** Connections that are open now. */
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

/**
 * The bounds in number. A newcomer takes the place of a connection that asks nothing; while all are busy it is cut off
 * without a word, because an answer would cost what it asks for.
 */
export function limitConnections(server: Server, { max, perCallerMax }: ConnectionBounds): Connections {
  const held = createHeldConnections()
  let refused = 0

  /** Whoever has too many gives way to itself, so that it takes nothing from others. */
  function hasRoomFor(caller: string): boolean {
    if (perCallerMax !== undefined && held.countOf(caller) >= perCallerMax) return held.endOldestIdle(caller)
    return held.count() < max || held.endOldestIdle()
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
  server.prependListener('request', ({ socket }, response) => {
    held.begin(socket)
    response.once('close', () => held.end(socket))
  })
  return { open: held.count, refused: () => refused }
}
