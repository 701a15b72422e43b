/** Notices callers that hang up before they are answered, so that nothing costly is spent on them. */
import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** One signal for each connection, however many requests it brings. */
const signals = new WeakMap<Socket, AbortSignal>()

/**
 * A signal that aborts when the caller's connection ends. An end that came together with the request is noticed, too:
 * Node reads it in the next turn of the event loop, so two turns are waited for.
 */
export async function hangUpOf({ raw: { socket } }: FastifyRequest): Promise<AbortSignal> {
  const gone = signals.get(socket) ?? watch(socket)
  await nextLoop()
  await nextLoop()
  return gone
}

const nextLoop = () => new Promise((resolve) => setImmediate(resolve))

function watch(socket: Socket): AbortSignal {
  const ended = new AbortController()
  signals.set(socket, ended.signal)
  // One connection may carry many requests, and each of them listens while it waits.
  setMaxListeners(0, ended.signal)
  const end = () => ended.abort()
  if (socket.destroyed || socket.readableEnded) end()
  // A caller that ends its sending half is not answered either, because Node closes the other half, too.
  else socket.once('end', end).once('close', end)
  return ended.signal
}
