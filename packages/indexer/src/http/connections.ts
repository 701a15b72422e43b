/** How many connections there may be. One that asks nothing gives way to a newcomer; while all are busy, nobody does. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type Held = { readonly caller: string; requests: number }

export function limitConnections(
  server: Server,
  { max, perCallerMax }: { max: number; perCallerMax: number },
) {
  /** The ones that have asked nothing for longest come first. */
  const held = new Map<Socket, Held>()
  const ofCaller = (caller: string) => [...held].filter(([, of]) => of.caller === caller)

  function giveWay(among: Iterable<[Socket, Held]>): boolean {
    for (const [socket, { requests }] of among) {
      if (requests > 0) continue
      held.delete(socket)
      socket.destroy()
      return true
    }
    return false
  }

  /** Whoever has too many gives way to itself, so that it takes nothing from others. */
  function hasRoomFor(caller: string): boolean {
    const own = ofCaller(caller)
    if (own.length >= perCallerMax) return giveWay(own)
    return held.size < max || giveWay(held)
  }

  server.on('connection', (socket: Socket) => {
    const caller = socket.remoteAddress ?? 'gone'
    if (!hasRoomFor(caller)) {
      socket.destroy()
      return
    }
    held.set(socket, { caller, requests: 0 })
    socket.once('close', () => held.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => {
    const of = held.get(socket)
    if (!of) return
    of.requests += 1
    response.once('close', () => {
      of.requests -= 1
      // To the end of the line.
      if (held.delete(socket)) held.set(socket, of)
    })
  })
}
