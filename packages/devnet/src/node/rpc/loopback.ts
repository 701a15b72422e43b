import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Everything the devnet serves is for this machine only. */
export const loopbackHost = '127.0.0.1'

/** Listens on loopback. Port 0 takes a free port. A taken port gives a plain error. */
export async function listenOnLoopback(
  server: Server,
  port: number,
): Promise<{ port: number; close(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(taken ? new Error(`port ${port} on ${loopbackHost} is already in use`, { cause: error }) : error)
    })
    server.listen(port, loopbackHost, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The whole body as text, or undefined when it is larger than allowed. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // The rest is read and dropped: a caller that is still sending would not see an early refusal.
    if (size <= bytesMax) chunks.push(chunk)
  }
  return size <= bytesMax ? Buffer.concat(chunks).toString('utf8') : undefined
}
