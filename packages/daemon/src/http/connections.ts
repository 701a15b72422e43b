/** Limits on connections: how long each may last, how many a caller may hold, and what is told to those beyond. */
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { callerKey } from './caller-key.js'
import { serveOneRequestAtATime } from './one-request.js'

export type ConnectionBounds = {
  /** Time for the head of a request, from the connection's start, or from the first byte on a kept connection. */
  readonly headMs: number
  /** Time for the whole request, from the same moment. */
  readonly requestMs: number
  /** Pause between two checks of these times. Node's own default would make every bound 30 s less exact. */
  readonly pollMs: number
  /** How long a connection is kept between two requests. */
  readonly keptMs: number
  /** A connection without any traffic for this long is closed. Longer than any answer takes. */
  readonly silentMs: number
  readonly max: number
  /** Whether a caller has an address of its own. False when all callers come through a proxy. */
  readonly areCallersTold: boolean
  /** Connections beyond these bounds whose request is read, to be told so, and the time for its head. */
  readonly turnedAwayMax: number
  readonly turnedAwayMs: number
}

/** Why a request must not reach its handler. Whoever is told `overloaded` should come back later. */
export type ConnectionRefusal = 'overloaded' | 'several_hosts'

export type Connections = {
  /** Connections that are open now. */
  open(): number
  /** Connections that were turned away, because there were too many: with an answer, or closed without one. */
  refused(): number
  /** To be asked once for each request. `isKnown` is asked when there is no room for strangers. */
  refusalOf(request: IncomingMessage, isKnown?: () => boolean): ConnectionRefusal | undefined
}

/** The time limits, as options of Fastify. */
export const timeoutsOf = (bounds: ConnectionBounds) => ({
  requestTimeout: bounds.requestMs,
  connectionTimeout: bounds.silentMs,
  keepAliveTimeout: bounds.keptMs,
  http: {
    headersTimeout: bounds.headMs,
    connectionsCheckingInterval: bounds.pollMs,
  } satisfies ServerOptions,
})

/** A caller may hold this part of the connections that are free. */
const partOfFree = 1 / 4

/**
 * Enforces the limits on the number of connections. A caller may hold a quarter of what is free: a fifth of all when it is
 * alone, and less beside others. So a few callers with slow requests never take the last ones, and no open connection has
 * to give way. A connection beyond that is read as far as its first head, and gets an answer.
 */
export function limitConnections(server: Server, bounds: ConnectionBounds): Connections {
  const held = new Map<string, number>()
  const turnedAway = new Set<Socket>()
  let open = 0
  let refused = 0
  serveOneRequestAtATime(server)

  function hold(socket: Socket, caller: string): void {
    open += 1
    held.set(caller, (held.get(caller) ?? 0) + 1)
    socket.once('close', () => {
      open -= 1
      const left = (held.get(caller) ?? 1) - 1
      if (left === 0) held.delete(caller)
      else held.set(caller, left)
    })
  }

  function turnAway(socket: Socket): void {
    if (turnedAway.size >= bounds.turnedAwayMax) {
      refused += 1
      socket.destroy()
      return
    }
    turnedAway.add(socket)
    const patience = setTimeout(() => turnedAway.has(socket) && socket.destroy(), bounds.turnedAwayMs)
    socket.once('close', () => {
      clearTimeout(patience)
      if (turnedAway.delete(socket)) refused += 1
    })
  }

  server.on('connection', (socket: Socket) => {
    const caller = callerKey(socket.remoteAddress)
    const own = bounds.areCallersTold ? (held.get(caller) ?? 0) : 0
    if (own < (bounds.max - open) * partOfFree) hold(socket, caller)
    else turnAway(socket)
  })

  return {
    open: () => open,
    refused: () => refused,
    refusalOf(request, isKnown = () => false) {
      const { socket, rawHeaders } = request
      const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host')
      if (hosts.length > 1) return 'several_hosts'
      if (!turnedAway.has(socket)) return undefined
      if (!isKnown()) return 'overloaded'
      turnedAway.delete(socket)
      hold(socket, callerKey(socket.remoteAddress))
      return undefined
    },
  }
}
