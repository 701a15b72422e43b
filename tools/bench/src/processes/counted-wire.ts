/**
 * A wire to a PostgreSQL server on loopback that counts round trips: how often a connection begins to wait for an answer. The
 * server is as far away as is said: an answer that came at once would end a round trip whose statements are still being sent.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type CountedWire = {
  readonly port: number
  /** Since the start, on all connections. Statements that are sent without waiting for each other share one. */
  roundTrips(): number
  close(): Promise<void>
}

/** Ends of a caller's statements: Sync, Query, and Flush for a statement that is new to its connection. */
const asks = /[SQH]/
/** The server's ends: ready for the next, and the description of a new statement. */
const answers = /[Zt]/

export async function openCountedWire(targetPort: number, awayMs: number): Promise<CountedWire> {
  const host = '127.0.0.1'
  const sockets = new Set<Socket>()
  let roundTrips = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host, noDelay: true })
    let waiting = 0
    const asked = readTypes(true, (type) => {
      if (!asks.test(type)) return
      if (waiting === 0) roundTrips += 1
      waiting += 1
    })
    const answered = readTypes(false, (type) => {
      if (answers.test(type) && waiting > 0) waiting -= 1
    })
    near.on('data', (bytes) => {
      asked(bytes)
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      // Timers of one length end in their order.
      setTimeout(() => {
        answered(bytes)
        near.write(bytes)
      }, awayMs)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    roundTrips: () => roundTrips,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Tells the type of each message. All but a caller's first begin with a letter; their length follows. */
function readTypes(isCaller: boolean, tell: (type: string) => void) {
  let rest = Buffer.alloc(0)
  let hasType = !isCaller
  return (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const at = hasType ? 1 : 0
      if (rest.length < at + 4) return
      const length = at + rest.readUInt32BE(at)
      if (rest.length < length) return
      if (hasType) tell(String.fromCharCode(rest[0] ?? 0))
      hasType = true
      rest = rest.subarray(length)
    }
  }
}
