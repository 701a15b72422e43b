/** Connections that are open, whose they are, and which of them ask nothing at present. */
import type { Socket } from 'node:net'

export type HeldConnections = {
  add(socket: Socket, caller: string): void
  /** A request has come on it; its answer is over. */
  begin(socket: Socket): void
  end(socket: Socket): void
  count(): number
  countOf(caller: string): number
  /** Closes what has asked nothing for longest, of one caller or of all; false when everything is busy. */
  endOldestIdle(caller?: string): boolean
}

export function createHeldConnections(): HeldConnections {
  const requests = new Map<Socket, { readonly caller: string; open: number }>()
  const byCaller = new Map<string, number>()
  /** In the order in which they became idle. One whose head is still coming is idle too: heads can be sent slowly. */
  const idle = new Set<Socket>()

  /** At once, not when the socket says that it is closed: the newcomer is there already. */
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
