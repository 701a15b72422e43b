/** One address for several daemons of this machine. Each new connection goes to the one that is active, by its `/ready`. */
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
  const urls: string[] = []
  const visitors = new Set<Socket>()

  /** A visitor without a daemon is told at once, and may come again. */
  async function lead(visitor: Socket): Promise<void> {
    const active = (await Promise.all(urls.map(async (url) => (await isActive(url)) && url))).find(Boolean)
    if (!active || visitor.destroyed) return void visitor.destroy()
    const daemon = connect({ port: Number(new URL(active).port), host: loopbackHost, noDelay: true })
    // Whichever side ends, the other one learns of it.
    pipeline(visitor, daemon, visitor, () => undefined)
  }

  const server = createServer({ noDelay: true }, (visitor) => {
    visitors.add(visitor)
    visitor.on('error', () => undefined)
    visitor.once('close', () => visitors.delete(visitor))
    void lead(visitor)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(wantedPort, loopbackHost, resolve)
  })
  return {
    url: `http://${loopbackHost}:${(server.address() as AddressInfo).port}`,
    add: (url) => void urls.push(url),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const visitor of visitors) visitor.destroy()
      await closed
    },
  }
}

const answerMsMax = 2_000

/** It answers, and no other daemon is active in its place; what else keeps it from being ready is for the visitor to hear. */
const isActive = (url: string): Promise<boolean> =>
  fetch(`${url}/ready`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(answerMsMax) }).then(
    async (response) => !(await response.text()).includes('"standby"'),
    () => false,
  )
