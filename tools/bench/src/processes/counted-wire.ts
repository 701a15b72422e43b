/**
 * A wire to a PostgreSQL server on loopback that hears what is said, and counts round trips: how often a connection begins to
 * wait for an answer. The server is as far away as is said: an answer that came at once would end a round trip whose statements
 * are still being sent.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What is said on a connection from its first statement to the end of its transaction. */
type Conversation = { text: string; roundTrips: number }

export type CountedWire = {
  readonly port: number
  /** What is said from now on, on all connections. Statements that are sent without waiting for each other share a round trip. */
  listen(): readonly Readonly<Conversation>[]
  close(): Promise<void>
}

/** Ends of a caller's statements: Sync, Query, and Flush for a statement that is new to its connection. */
const asks = /[SQH]/
/** The server's ends: ready for the next, and the description of a new statement. */
const answers = /[Zt]/
/** How the server says that it is ready, and that no transaction is open. */
const readyAndIdle = 'Z\0\0\0\x05I'

export async function openCountedWire(targetPort: number, awayMs: number): Promise<CountedWire> {
  const host = '127.0.0.1'
  const sockets = new Set<Socket>()
  let heard: Conversation[] = []
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host, noDelay: true })
    let waiting = 0
    let current: Conversation | undefined
    const asked = readMessages(true, (message) => {
      if (!current) {
        current = { text: '', roundTrips: 0 }
        heard.push(current)
      }
      current.text += message
      if (!asks.test(message.charAt(0))) return
      if (waiting === 0) current.roundTrips += 1
      waiting += 1
    })
    const answered = readMessages(false, (message) => {
      if (answers.test(message.charAt(0)) && waiting > 0) waiting -= 1
      if (waiting === 0 && message === readyAndIdle) current = undefined
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
    listen() {
      heard = []
      return heard
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Tells each message. All but a caller's first begin with a letter, their type; their length follows. */
function readMessages(isCaller: boolean, tell: (message: string) => void) {
  let rest = Buffer.alloc(0)
  let hasType = !isCaller
  return (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const at = hasType ? 1 : 0
      if (rest.length < at + 4) return
      const length = at + rest.readUInt32BE(at)
      if (rest.length < length) return
      if (hasType) tell(rest.toString('latin1', 0, length))
      hasType = true
      rest = rest.subarray(length)
    }
  }
}
