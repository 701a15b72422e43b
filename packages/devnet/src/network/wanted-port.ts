import { type AddressInfo, createServer } from 'node:net'
import { loopbackHost } from '../node/rpc/loopback.js'

/** A port that has to be this one (0 takes any free one), or a port that is taken when it is free. */
export type WantedPort = number | { readonly preferred: number }

/**
 * Starts a part on its port. When somebody else has the preferred port, or takes it while the part starts, another port
 * does as well.
 */
export async function startOn<T>(wanted: WantedPort, start: (port: number) => Promise<T>): Promise<T> {
  if (typeof wanted === 'number') return start(wanted)
  const { preferred } = wanted
  if (await isFree(preferred)) {
    try {
      return await start(preferred)
    } catch (error) {
      if (await isFree(preferred)) throw error
    }
  }
  return start(await freePort())
}

const isFree = (port: number): Promise<boolean> =>
  probe(port).then(
    () => true,
    () => false,
  )

/** A port that is free now, for a part whose port others have to know before it listens. */
export const freePort = (): Promise<number> => probe(0)

function probe(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, loopbackHost, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
