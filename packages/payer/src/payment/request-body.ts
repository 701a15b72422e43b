/** What a human is told of the body of a request. The body itself is the caller's, and is not kept. */
import { createHash } from 'node:crypto'
import { printable } from '../printable.js'

export type BodyFacts = { readonly bytes: number; readonly start: string; readonly sha256: string }

const startBytes = 64

/** Reads the body of a request, and leaves the request usable. */
export async function bodyOf(request: Request): Promise<BodyFacts | 'none'> {
  if (request.body === null) return 'none'
  const body = Buffer.from(await request.clone().arrayBuffer())
  const start = printable(body.subarray(0, startBytes).toString('latin1'), startBytes)
  return { bytes: body.length, start, sha256: createHash('sha256').update(body).digest('hex') }
}
