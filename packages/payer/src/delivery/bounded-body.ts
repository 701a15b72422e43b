/**
 * Reads bodies of sellers within bounds. Sizes are counted after decoding, so that a compressed bomb counts
 * in full.
 */
import { type Clock, inTime } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'

export type BodyBounds = {
  readonly bytesMax: number
  /** Longest wait for the next piece. */
  readonly idleMsMax: number
  /** Longest time for the whole body. */
  readonly totalMsMax: number
}

/**
 * The response with a body that fails with a named error beyond the bounds. No timer runs while nobody reads.
 */
export function boundBody(response: Response, bounds: BodyBounds, clock: Clock): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  return withPieces(response, createTake(reader, bounds, clock), (reason) => reader.cancel(reason))
}

/** The response with a body that says so when it breaks off. A caller that stops reading breaks nothing off. */
export function onBreak(response: Response, broken: () => Promise<void>): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const take = async () => {
    try {
      return (await reader.read()).value
    } catch (error) {
      await broken()
      throw error
    }
  }
  return withPieces(response, take, (reason) => reader.cancel(reason))
}

/** The response with a body that is read piece by piece; undefined is its end. */
function withPieces(
  response: Response,
  take: () => Promise<Uint8Array | undefined>,
  cancel: (reason: unknown) => Promise<void>,
): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await take()
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        } catch (error) {
          controller.error(error)
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
  return withBody(response, body)
}

/** The response with its whole body in memory. */
export async function readWhole(response: Response, bounds: BodyBounds, clock: Clock): Promise<Response> {
  if (response.body === null) return response
  const take = createTake(response.body.getReader(), bounds, clock)
  const pieces: Uint8Array[] = []
  for (let piece = await take(); piece !== undefined; piece = await take()) pieces.push(piece)
  return withBody(response, new Blob(pieces as Uint8Array<ArrayBuffer>[]))
}

/** Reads piece by piece; undefined is the end. Beyond a bound the connection is closed. */
function createTake(reader: ReadableStreamDefaultReader<Uint8Array>, bounds: BodyBounds, clock: Clock) {
  const untilMs = clock.now() + bounds.totalMsMax
  let bytesLeft = bounds.bytesMax

  async function next(): Promise<Uint8Array | undefined> {
    const waitMs = Math.min(bounds.idleMsMax, untilMs - clock.now())
    if (waitMs <= 0) throw new PayerError('answer_timeout', `the body took over ${bounds.totalMsMax} ms`)
    const first = await inTime(reader.read(), waitMs, clock)
    if (first === 'late') throw new PayerError('answer_timeout', `the body stopped for ${waitMs} ms`)
    if (first.done) return undefined
    bytesLeft -= first.value.byteLength
    if (bytesLeft < 0) {
      throw new PayerError('answer_too_large', `the body has more than ${bounds.bytesMax} bytes`)
    }
    return first.value
  }

  return () =>
    next().catch((error) => {
      reader.cancel(error).catch(() => undefined)
      throw error
    })
}

/** The response with another body. */
export function withBody(response: Response, body: Blob | ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected } = response
  // A server may answer with any number, and no response can be made with some of them.
  const isPossible = status >= 200 && status <= 599
  const bounded = new Response(body, { status: isPossible ? status : 500, statusText, headers })
  return Object.defineProperties(bounded, {
    ...(!isPossible && { status: { value: status } }),
    url: { value: url },
    redirected: { value: redirected },
  })
}
