/** A wire from a program to a server on loopback, which a test makes long, cuts, freezes or takes away. */
import { connect, createServer, type Socket } from 'node:net'

/**
 * - `open`: everything passes
 * - `frozen`: nothing passes, and nothing is lost: what was sent meanwhile arrives late
 * - `refused`: new connections are closed at once, and there are no others
 */
export type WireState = 'open' | 'frozen' | 'refused'

export type TcpSwitch = {
  readonly port: number
  turn(state: WireState): void
  /** Turns to `refused` at the instant in which a program says these words, which never arrive. Resolves then. */
  refuseAt(words: string): Promise<void>
  /** Another server is at the end of the wire: new connections go to this port. */
  aim(port: number): void
  /** Closes every connection. New ones are made as before. */
  cut(): void
  close(): Promise<void>
}

export async function startTcpSwitch(serverPort: number, { delayMs = 0 } = {}): Promise<TcpSwitch> {
  const host = '127.0.0.1'
  let targetPort = serverPort
  let state: WireState = 'open'
  let trap: { readonly words: string; readonly sprung: () => void } | undefined
  const sockets = new Set<Socket>()

  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes) => {
      if (trap && bytes.includes(trap.words)) {
        turn('refused')
        trap.sprung()
        trap = undefined
      } else if (delayMs === 0) to.write(bytes)
      else setTimeout(() => to.write(bytes), delayMs)
    })
    from.on('error', () => undefined)
    from.on('end', () => to.end())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    if (state === 'frozen') from.pause()
  }

  const server = createServer((near) => {
    if (state === 'refused') return void near.destroy()
    const far = connect(targetPort, host)
    join(near, far)
    join(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const turn = (to: WireState) => {
    state = to
    if (state === 'refused') cut()
    for (const socket of sockets) state === 'frozen' ? socket.pause() : socket.resume()
  }
  return {
    port: (server.address() as { port: number }).port,
    turn,
    refuseAt: (words) =>
      new Promise((sprung) => {
        trap = { words, sprung }
      }),
    aim(port) {
      targetPort = port
    },
    cut,
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
