/** A raw connection: a test writes any bytes and reads everything that comes back. */
import { connect, type Socket } from 'node:net'

export type RawSocket = {
  readonly socket: Socket
  /** Everything received so far. */
  text(): string
  /** Resolves when the connection is closed, by whomever, with the milliseconds it lived. */
  readonly closed: Promise<number>
}

/**
 * Opens a connection. A refused one is returned closed. `from` sets the caller's address: all of 127.0.0.0/8 is this
 * machine.
 */
export async function openSocket(origin: string, from?: string): Promise<RawSocket> {
  const { hostname, port } = new URL(origin)
  const chunks: Buffer[] = []
  const socket = connect({ port: Number(port), host: hostname, ...(from && { localAddress: from }) })
  const openedAt = performance.now()
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // Resets are expected, so errors are ignored.
  socket.on('error', () => undefined)
  const closed = new Promise<number>((resolve) =>
    socket.once('close', () => resolve(performance.now() - openedAt)),
  )
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed])
  return { socket, text: () => Buffer.concat(chunks).toString('latin1'), closed }
}

/** Writes one byte after the other, with pauses, until the server closes the connection. */
export async function drip(to: RawSocket, text: string, pauseMs: number): Promise<number> {
  let at = 0
  const timer = setInterval(() => {
    if (to.socket.writable) to.socket.write(text[at++ % text.length] ?? '')
  }, pauseMs)
  try {
    return await to.closed
  } finally {
    clearInterval(timer)
  }
}
