import { createServer } from 'node:net'
import { loopbackHost } from '../node/rpc/loopback.js'

/** The wanted port if it is free, otherwise any free one. */
export function preferredPort(wanted: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(wanted, loopbackHost, () => probe.close(() => resolve(wanted)))
  })
}
