/** A text that never changes while the daemon runs. It is made for the first who asks, and compressed once. */
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type PackedText = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

export function packedText(make: () => string): PackedText {
  let made: string | undefined
  let packed: Buffer | undefined
  return ({ headers }, reply) => {
    made ??= make()
    reply.header('vary', 'accept-encoding')
    if (!/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))) return reply.send(made)
    packed ??= gzipSync(made)
    return reply.header('content-encoding', 'gzip').send(packed)
  }
}
