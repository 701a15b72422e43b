import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, loopbackHost, () => server.close(() => resolve(true)))
  })
}

/**
 * A port that is free now, for a part whose port others have to know before it listens. It is below those that systems give to
 * connections, so that no connection takes it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
}
