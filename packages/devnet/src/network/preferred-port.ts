import { type AddressInfo, createServer } from 'node:net'
import { loopbackHost } from '../node/rpc/loopback.js'

/** The wanted port if it is free, otherwise any free one. */
export function preferredPort(wanted: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(wanted, loopbackHost, () => probe.close(() => resolve(wanted)))
  })
}

/** A port that is free now, for a part whose port others have to know before it listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, loopbackHost, () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
