/**
 * What is sold is sent as a whole, after its payment is accepted, and is held in memory until then. So a handler whose
 * answer never ends would sell nothing, keep its payment under way and fill the memory: its answer has an end.
 */
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { heldLimits } from '../limits.js'

const hasNoEnd = () => {
  const { endsMs, bytesMax } = heldLimits
  return new SvcError(
    'answer_endless',
    `the answer of a paid handler had no end after ${endsMs / 1000} s or ${bytesMax / 1_048_576} MiB: it is sent as a whole, so sell a stream in parts`,
  )
}

/** The parts of Node's response that are used here. */
export type Boundable = {
  write(...args: unknown[]): unknown
  end(...args: unknown[]): unknown
  flushHeaders(): unknown
}

/**
 * Resolves when the handler has ended its answer. Rejects when that takes too long from its first byte on, or is too much;
 * `undo` is called before, and what the handler writes later goes nowhere.
 */
export function endOf(response: Boundable, clock: Clock, undo: () => void): Promise<void> {
  const { write, end, flushHeaders } = response
  const timer = new AbortController()
  let bytes = 0
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      if (timer.signal.aborted) return
      timer.abort()
      undo()
      // Who waits until there is room again waits for ever.
      Object.assign(response, { write: () => false, end: () => response, flushHeaders: () => {} })
      reject(hasNoEnd())
    }
    let isTimed = false
    const begin = () => {
      if (isTimed) return
      isTimed = true
      void clock.sleep(heldLimits.endsMs, timer.signal).then(giveUp)
    }
    response.write = (...args) => {
      begin()
      bytes += sizeOf(args)
      if (bytes > heldLimits.bytesMax) giveUp()
      return timer.signal.aborted ? false : write.apply(response, args)
    }
    response.flushHeaders = () => {
      begin()
      return flushHeaders.apply(response)
    }
    response.end = (...args) => {
      bytes += sizeOf(args)
      if (bytes > heldLimits.bytesMax) giveUp()
      if (timer.signal.aborted) return response
      timer.abort()
      Object.assign(response, { write, end, flushHeaders })
      resolve()
      return end.apply(response, args)
    }
  })
}

const sizeOf = ([chunk]: unknown[]): number =>
  typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk instanceof Uint8Array ? chunk.length : 0

/** The same answer with its body in memory. Throws when that takes too long or is too much, or when the body breaks. */
export async function wholeOf(response: Response, clock: Clock): Promise<Response> {
  const { status, statusText, headers } = response
  const body = response.body === null ? null : await readWhole(response.body, clock)
  return new Response(body, { status, statusText, headers })
}

async function readWhole(stream: ReadableStream<Uint8Array>, clock: Clock): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader()
  const timer = new AbortController()
  // A stream that is never waited for lets no timer fire, so the clock is read, too.
  const endsAtMs = clock.now() + heldLimits.endsMs
  const tooLate = clock.sleep(heldLimits.endsMs, timer.signal).then(() => undefined)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const read = await Promise.race([reader.read(), tooLate])
      if (read === undefined || clock.now() >= endsAtMs) throw hasNoEnd()
      if (read.done) return new Uint8Array(Buffer.concat(chunks))
      bytes += read.value.length
      if (bytes > heldLimits.bytesMax) throw hasNoEnd()
      chunks.push(read.value)
    }
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    throw error
  } finally {
    timer.abort()
  }
}
