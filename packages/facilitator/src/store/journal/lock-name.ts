/**
 * The kernel's lock on Linux: a name in the abstract socket namespace, bound to the identity of the journal's folder.
 * The name is gone with the process, however that ends. Another network namespace does not see it.
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname } from 'node:path'

export type BoundName = { letGo(): Promise<void> }

/** `taken` when another process has the name. */
export function bindName(path: string): Promise<BoundName | 'taken'> {
  // The identity instead of the path: one volume may be mounted at two places.
  const { dev, ino } = statSync(dirname(path), { bigint: true })
  const identity = createHash('sha256')
    .update(`${dev}:${ino}:${basename(path)}`)
    .digest('hex')
  return new Promise((resolve, reject) => {
    // Only the name matters: connections to it are closed.
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve('taken') : reject(error),
    )
    server.listen(`\0svc-zerc20-journal-${identity}`, () => {
      server.unref()
      resolve({ letGo: () => new Promise((closed) => server.close(() => closed())) })
    })
  })
}
