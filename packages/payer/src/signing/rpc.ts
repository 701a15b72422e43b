/**
 * The way to the RPC endpoint. Every call ends within one time, its second try included, whatever the endpoint does:
 * no node may hold a payment or what was paid for. The library of the chain never learns the URL, so that no error of
 * its shows a key.
 */
import { createPost, type Posted } from '@svc-zerc20/evm/post'
import type { Clock } from '@svc-zerc20/protocol'
import { type HttpTransport, http } from 'viem'
import type { PayerLimits } from '../limits.js'

export function createRpc({
  rpcUrl,
  clock,
  limits,
}: {
  readonly rpcUrl: string
  readonly clock: Clock
  readonly limits: Pick<
    PayerLimits,
    'answerMsMax' | 'rpcRetriesMax' | 'rpcRetryDelayMs' | 'rpcAnswerBytesMax'
  >
}): HttpTransport {
  const { send } = createPost({ url: rpcUrl, answerBytesMax: limits.rpcAnswerBytesMax })

  async function post(body: string): Promise<Posted> {
    const untilMs = clock.now() + limits.answerMsMax
    for (let tries = 0; ; tries += 1) {
      const mayTryAgain = () => tries < limits.rpcRetriesMax && clock.now() + limits.rpcRetryDelayMs < untilMs
      try {
        const answer = await send(body, untilMs - clock.now())
        if (!busyStatuses.has(answer.status) || !mayTryAgain()) return answer
      } catch (error) {
        if (!mayTryAgain()) throw error
      }
      await clock.sleep(limits.rpcRetryDelayMs)
    }
  }

  return http(new URL(rpcUrl).origin, {
    batch: true,
    timeout: 0,
    retryCount: 0,
    async fetchFn(_, init) {
      const { status, text } = await post(String(init?.body))
      return new Response(text, { status: status ?? 502 })
    },
  })
}

/** Statuses of a node, or of a proxy before it, that may answer in a moment. */
const busyStatuses = new Set<number | undefined>([408, 429, 500, 502, 503, 504])
