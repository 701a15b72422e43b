/** A grant is used once the answer was written; a connection that broke before leaves it for the next caller. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Grant } from '../../payment/ledger-port.js'

/** Watches the connection, not the response: a response that waits behind another on it never hears of its end. */
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
