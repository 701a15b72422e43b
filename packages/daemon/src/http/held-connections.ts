/** The open connections, with their callers, and which of them are idle. */
import type { Socket } from 'node:net'

export type HeldConnections = {
  add(socket: Socket, caller: string): void
  /** `begin`: a request has arrived on the connection. `end`: its answer is complete. */
  begin(socket: Socket): void
  end(socket: Socket): void
  count(): number
  countOf(caller: string): number
  /** Closes the connection that has been idle longest, of one caller or of all. False when all are busy. */
  endOldestIdle(caller?: string): boolean
}

export function createHeldConnections(): HeldConnections {
  const requests = new Map<Socket, { readonly caller: string; open: number }>()
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

  return {
    add(socket, caller) {
      requests.set(socket, { caller, open: 0 })
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + 1)
      idle.add(socket)
      socket.once('close', () => forget(socket))
    },
    begin(socket) {
      const known = requests.get(socket)
      if (!known) return
      known.open += 1
      idle.delete(socket)
    },
    end(socket) {
      const known = requests.get(socket)
      if (!known) return
      known.open -= 1
      if (known.open === 0) idle.add(socket)
    },
    count: () => requests.size,
    countOf: (caller) => byCaller.get(caller) ?? 0,
    endOldestIdle(caller) {
      const socket = oldestIdle(caller)
      if (!socket) return false
      forget(socket)
      socket.destroy()
      return true
    },
  }
}
