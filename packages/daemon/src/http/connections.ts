/** Limits on connections: how long each may last, how many a caller may hold, and what is told to those beyond. */
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { reasons } from '@svc-zerc20/protocol'
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
  /** Whether a caller has its own address. False when all callers come through a proxy. */
  readonly areCallersTold: boolean
  /** Connections beyond these bounds whose request is read, to be told so, and the time for its head. */
  readonly turnedAwayMax: number
  readonly turnedAwayMs: number
  /** Connections beyond even these, which are told so without being read, and have the same time to hear it. */
  readonly sentAwayMax: number
}

/** Why a request must not reach its handler. A caller that is told `overloaded` should come back later. */
export type ConnectionRefusal = 'overloaded' | 'several_hosts'

export type Connections = {
  /** Connections that are open now. */
  open(): number
  /** Connections that were turned away, because there were too many. */
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

const overloadedBody = JSON.stringify({ error: reasons.overloaded.help, reason: 'overloaded' })
const overloaded = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: application/json; charset=utf-8',
  `content-length: ${Buffer.byteLength(overloadedBody)}`,
  'retry-after: 5',
  'connection: close',
  '',
  overloadedBody,
].join('\r\n')

/** A caller may hold this part of the connections that are free. */
const partOfFree = 1 / 4

/**
 * Enforces the limits on the number of connections. A caller may hold a quarter of what is free: a fifth of all when it is
 * alone, and less beside others. So a few callers with slow requests never take the last ones, and no open connection has
 * to give way. A connection beyond that is read as far as its first head, and gets an answer. When even those are too many,
 * the answer comes before the request: a caller that is cut off instead knows nothing, and tries again at once.
 */
export function limitConnections(server: Server, bounds: ConnectionBounds): Connections {
  const held = new Map<string, number>()
  const turnedAway = new Map<Socket, NodeJS.Timeout>()
  const sentAway = new Set<Socket>()
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

  /** What has arrived by then is read first: on a busy machine it is late, too. */
  const afterAWhile = (act: () => void) => setTimeout(() => setImmediate(act), bounds.turnedAwayMs)

  function turnAway(socket: Socket): void {
    const patience = afterAWhile(() => turnedAway.delete(socket) && sendAway(socket))
    turnedAway.set(socket, patience)
    socket.once('close', () => {
      clearTimeout(patience)
      if (turnedAway.delete(socket)) refused += 1
    })
  }

  /** What it sends is thrown away. It is closed by its caller: closed by us, it would be reset, and its answer lost. */
  function sendAway(socket: Socket): void {
    refused += 1
    socket.removeAllListeners('data').resume()
    socket.end(overloaded)
    sentAway.add(socket)
    const patience = afterAWhile(() => socket.destroy())
    socket.once('close', () => {
      clearTimeout(patience)
      sentAway.delete(socket)
    })
    const [oldest] = sentAway
    if (sentAway.size > bounds.sentAwayMax) oldest?.destroy()
  }

  server.on('connection', (socket: Socket) => {
    const caller = callerKey(socket.remoteAddress)
    const own = bounds.areCallersTold ? (held.get(caller) ?? 0) : 0
    if (own < (bounds.max - open) * partOfFree) hold(socket, caller)
    else if (turnedAway.size < bounds.turnedAwayMax) turnAway(socket)
    else sendAway(socket)
  })

  return {
    open: () => open,
    refused: () => refused,
    refusalOf(request, isKnown = () => false) {
      const { socket, rawHeaders } = request
      const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host')
      if (hosts.length > 1) return 'several_hosts'
      if (sentAway.has(socket)) return 'overloaded'
      const patience = turnedAway.get(socket)
      if (patience === undefined) return undefined
      clearTimeout(patience)
      if (!isKnown()) return 'overloaded'
      turnedAway.delete(socket)
      hold(socket, callerKey(socket.remoteAddress))
      return undefined
    },
  }
}
