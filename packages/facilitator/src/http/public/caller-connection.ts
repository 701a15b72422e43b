/** The connection of a caller: nothing costly is spent on one that hangs up, and a grant is used once its answer was written. */
import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Grant } from '../../payment/ledger-port.js'

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

/**
 * Uses a grant once the answer was written. A connection that broke before leaves it for the next caller. The connection is
 * watched, not the response: a response that waits behind another on it never hears of its end.
 */
export function useGrantOnceWritten(
  request: FastifyRequest,
  { raw }: FastifyReply,
  grant: Grant,
  onFailure: (err: unknown) => void,
): void {
  const { socket } = request.raw
  const end = (how: () => Promise<void>) => {
    raw.off('finish', onFinish)
    socket.off('close', onClose)
    how().catch(onFailure)
  }
  const onFinish = () => end(grant.use)
  const onClose = () => end(grant.giveBack)
  if (socket.destroyed) {
    end(grant.giveBack)
    return
  }
  raw.once('finish', onFinish)
  socket.once('close', onClose)
}
