/**
 * One request at work on a connection. Node parses everything that one read brings, and begins every request in it: some
 * thousands of small ones in 64 KiB, each with a handler at work and an answer in memory. Here the parser gets one
 * request, and what came behind it waits as bytes until the answer is written.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { SvcError } from '@svc-zerc20/protocol'

/** The end of a head, and of a body that comes in chunks. The parser takes no other. */
const end = '\r\n\r\n'

/** Where the first end in these bytes is over. */
function endIn(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(end)
  return at < 0 ? undefined : at + end.length
}

/**
 * Bytes of a body in chunks that the parser gets in one turn. A chunk costs a call and an object, and the smallest has six
 * bytes: all that Node reads at once would be ten thousand of them.
 */
const chunkedBytesPerTurn = 256

type Line = { began(request: IncomingMessage): void; answered(): void }

export function serveOneRequestAtATime(server: Server): void {
  const lines = new WeakMap<Socket, Line>()
  server.on('connection', (socket: Socket) => void lines.set(socket, createLine(socket)))
  server.prependListener('request', (request, response) => {
    const line = lines.get(request.socket)
    line?.began(request)
    response.once('close', () => line?.answered())
  })
}

/** The bytes of one connection on their way to its parser. */
function createLine(socket: Socket): Line {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (!parse) throw new SvcError('invariant', 'no parser listens to this connection')
  let waiting: Buffer = Buffer.alloc(0)
  let latest: IncomingMessage | undefined
  let atWork = 0
  /** Bytes of the body that are still to come, when its length is told. They cannot begin another request. */
  let bodyLeft = 0
  /** The last bytes that the parser got and that no end follows yet: an end may come in two reads. */
  let begun: Buffer = Buffer.alloc(0)
  let isPaused = false
  let isTurnAwaited = false

  /** Answers that the caller does not read hold up its next request, too. */
  const isHeld = () => latest?.complete !== false && (atWork > 0 || socket.writableNeedDrain)

  /** How many of these bytes the parser may have before another head can begin. */
  function lengthToEnd(bytes: Buffer): number {
    const inSeam = endIn(Buffer.concat([begun, bytes.subarray(0, end.length - 1)]))
    const length = inSeam === undefined ? endIn(bytes) : inSeam - begun.length
    const last = Buffer.concat([begun, bytes.subarray(1 - end.length)]).subarray(1 - end.length)
    begun = length === undefined ? last : Buffer.alloc(0)
    return length ?? bytes.length
  }

  function parseNext(): void {
    const isInChunks = bodyLeft === 0 && latest?.complete === false
    const turn = isInChunks ? waiting.subarray(0, chunkedBytesPerTurn) : waiting
    const next = waiting.subarray(0, bodyLeft || lengthToEnd(turn))
    waiting = waiting.subarray(next.length)
    if (bodyLeft > 0) bodyLeft -= next.length
    parse?.call(socket, next)
  }

  /** One head and its body in one turn of the event loop: other connections come in between. */
  function advance(): void {
    isTurnAwaited = false
    if (socket.destroyed || isHeld()) return
    if (waiting.length > 0) parseNext()
    if (waiting.length > 0 && bodyLeft > 0) parseNext()
    if (waiting.length > 0) awaitTurn()
    else if (isPaused) {
      isPaused = false
      socket.resume()
    }
  }

  function awaitTurn(): void {
    if (isTurnAwaited) return
    isTurnAwaited = true
    setImmediate(advance)
  }

  // Since somebody listens to the bytes, Node no longer hands them to its parser underneath.
  socket.on('data', (bytes: Buffer) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    if (!isTurnAwaited) advance()
    if (waiting.length === 0) return
    socket.pause()
    isPaused = true
  })
  socket.off('data', parse)
  socket.on('drain', awaitTurn)
  return {
    began(request) {
      latest = request
      atWork += 1
      bodyLeft = Number(request.headers['content-length'] ?? 0)
    },
    answered() {
      atWork -= 1
      awaitTurn()
    },
  }
}
