/** One request to a seller and its answer, within bounds. */
import { type Clock, Headers, inTime } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { boundBody, readWhole } from './bounded-body.js'

/**
 * Sends without following redirects. A 402 comes with its whole body, any other answer with a bounded one.
 */
export type Exchange = (request: Request) => Promise<Response>

export type ExchangeLimits = Pick<
  PayerLimits,
  'refusalBytesMax' | 'answerMsMax' | 'resourceBytesMax' | 'resourceMsMax'
>

export function createExchange({
  fetch,
  checkUrl,
  clock,
  limits,
}: {
  readonly fetch: typeof globalThis.fetch
  /** Rejects before a request leaves for a URL that is not allowed. */
  readonly checkUrl: (url: string) => Promise<void>
  readonly clock: Clock
  readonly limits: ExchangeLimits
}): Exchange {
  const refusal = {
    bytesMax: limits.refusalBytesMax,
    idleMsMax: limits.answerMsMax,
    totalMsMax: limits.answerMsMax,
  }
  const resource = {
    bytesMax: limits.resourceBytesMax,
    idleMsMax: limits.answerMsMax,
    totalMsMax: limits.resourceMsMax,
  }

  /** The complete head of the answer, or `answer_timeout`, even if the given fetch ignores its signal. */
  async function answerTo(request: Request): Promise<Response> {
    const { answerMsMax } = limits
    const late = new AbortController()
    const signal = AbortSignal.any([request.signal, late.signal])
    try {
      const response = await inTime(fetch(new Request(request, { signal })), answerMsMax, clock)
      if (response !== 'late') return response
    } catch (error) {
      if (!isHeaderOverflow(error)) throw error
      throw new PayerError('answer_too_large', 'the headers', { cause: error })
    }
    const error = new PayerError('answer_timeout', `no answer within ${answerMsMax} ms`)
    late.abort(error)
    throw error
  }

  return async (request) => {
    await checkUrl(request.url)
    const response = await answerTo(request)
    for (const name of [Headers.paymentRequired, Headers.paymentResponse]) {
      if ((response.headers.get(name)?.length ?? 0) <= Headers.headerCharsMax) continue
      response.body?.cancel().catch(() => undefined)
      throw new PayerError('answer_too_large', `the header ${name}`)
    }
    return response.status === 402
      ? readWhole(response, refusal, clock)
      : boundBody(response, resource, clock)
  }
}

/** Whether Node's fetch failed because the headers are longer than its parser takes. */
function isHeaderOverflow(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'UND_ERR_HEADERS_OVERFLOW'
}
