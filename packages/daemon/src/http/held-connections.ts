/** The open connections, with their callers, and which of them can give way to a new one. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** A request whose head has arrived. It is complete when its body has arrived too. */
type Request = Pick<IncomingMessage, 'complete'>

export type HeldConnections = {
  add(socket: Socket, caller: string): void
  /** `begin`: the head of a request has arrived on the connection. `end`: its answer is complete. */
  begin(socket: Socket, request: Request): void
  end(socket: Socket, request: Request): void
  count(): number
  countOf(caller: string): number
  /** Closes the connection that has been idle longest, of one caller or of all. False when all are busy. */
  endOldestIdle(caller?: string): boolean
  /**
   * Closes a connection whose request is still arriving, of the caller with the most connections. That caller must have
   * more than the newcomer would have. False when there is none. Requests that are being answered are never cut off.
   */
  endLargestArriving(newcomer: string): boolean
}

export function createHeldConnections(): HeldConnections {
  const requests = new Map<Socket, { readonly caller: string; readonly open: Set<Request> }>()
  const byCaller = new Map<string, number>()
  /** In the order in which they became idle. A connection whose head is still arriving counts as idle too. */
  const idle = new Set<Socket>()

  /** Removes a socket at once, without waiting for its `close`, because the new connection is already open. */
  function forget(socket: Socket): void {
    const known = requests.get(socket)
    if (!known) return
    requests.delete(socket)
    idle.delete(socket)
    const left = (byCaller.get(known.caller) ?? 1) - 1
    if (left === 0) byCaller.delete(known.caller)
    else byCaller.set(known.caller, left)
  }

  function oldestIdle(caller: string | undefined): Socket | undefined {
    for (const socket of idle) {
      if (caller === undefined || requests.get(socket)?.caller === caller) return socket
    }
    return undefined
  }

  /** A look at all connections, which are some thousands. Needed only when all of them are taken. */
  function arrivingOf(caller: string): Socket | undefined {
    for (const [socket, known] of requests) {
      if (known.caller === caller && [...known.open].every(({ complete }) => !complete)) return socket
    }
    return undefined
  }

  function close(socket: Socket | undefined): boolean {
    if (!socket) return false
    forget(socket)
    socket.destroy()
    return true
  }

  const countOf = (caller: string): number => byCaller.get(caller) ?? 0

  return {
    add(socket, caller) {
      requests.set(socket, { caller, open: new Set() })
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + 1)
      idle.add(socket)
      socket.once('close', () => forget(socket))
    },
    begin(socket, request) {
      requests.get(socket)?.open.add(request)
      idle.delete(socket)
    },
    end(socket, request) {
      const known = requests.get(socket)
      if (!known) return
      known.open.delete(request)
      if (known.open.size === 0) idle.add(socket)
    },
    count: () => requests.size,
    countOf,
    endOldestIdle: (caller) => close(oldestIdle(caller)),
    endLargestArriving(newcomer) {
      let largest = newcomer
      for (const [caller, count] of byCaller) if (count > countOf(largest)) largest = caller
      return countOf(largest) > countOf(newcomer) + 1 && close(arrivingOf(largest))
    },
  }
}
