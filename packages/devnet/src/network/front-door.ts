/** One address for several daemons of this machine. Each new connection goes to the next of them that takes it. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { loopbackHost } from '../node/rpc/loopback.js'

export type FrontDoor = {
  readonly url: string
  /** From now on a daemon at this URL gets connections. */
  add(url: string): void
  close(): Promise<void>
}

export async function openFrontDoor(wantedPort: number): Promise<FrontDoor> {
  const ports: number[] = []
  const visitors = new Set<Socket>()
  let turn = 0

  /** Tries each daemon once. One that is gone costs a refused connection. */
  function lead(visitor: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) return void visitor.destroy()
    const daemon = connect({ port, host: loopbackHost, noDelay: true })
    const next = () => lead(visitor, others)
    daemon.once('error', next)
    daemon.once('connect', () => {
      daemon.off('error', next)
      // Whichever side ends, the other one learns of it.
      pipeline(visitor, daemon, visitor, () => undefined)
    })
  }

  const server = createServer({ noDelay: true }, (visitor) => {
    visitors.add(visitor)
    visitor.on('error', () => undefined)
    visitor.once('close', () => visitors.delete(visitor))
    const first = turn++ % ports.length
    lead(visitor, [...ports.slice(first), ...ports.slice(0, first)])
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(wantedPort, loopbackHost, resolve)
  })
  return {
    url: `http://${loopbackHost}:${(server.address() as AddressInfo).port}`,
    add: (url) => void ports.push(Number(new URL(url).port)),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const visitor of visitors) visitor.destroy()
      await closed
    },
  }
}
