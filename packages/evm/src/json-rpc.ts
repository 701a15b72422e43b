/** JSON-RPC over HTTP. One `batch` is one round trip. Errors never show the URL's credentials. */
import { SvcError } from '@svc-zerc20/protocol'
import { createPost } from './post.js'
import { parseQuantity } from './quantities.js'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }
/** The node's answer to one call. An error here came from the node; a failed round trip throws instead. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

type RawAnswer = { readonly id?: unknown; readonly result?: unknown; readonly error?: unknown }

export type JsonRpc = {
  /** Throws `SvcError('rpc_unreachable')` when the round trip itself fails. */
  batch(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]>
  /** One call; throws `SvcError('rpc_error')` when the node refuses it. */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** Aborts calls under way. Later calls throw `rpc_unreachable`. */
  close(): void
}

export function createJsonRpc(deps: { url: string; timeoutMs: number; answerBytesMax: number }): JsonRpc {
  const { send, unreachable, close } = createPost(deps)
  let nextId = 1

  async function post(body: string): Promise<string> {
    const { status, text } = await send(body, deps.timeoutMs)
    if (!answeringStatuses.has(status)) throw unreachable(`answered with status ${status}`)
    return text
  }

  async function batch(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    if (calls.length === 0) return []
    const firstId = nextId
    nextId += calls.length
    const requests = calls.map((call, i) => ({ jsonrpc: '2.0', id: firstId + i, ...call }))
    // A single call is sent without a list, because some nodes take no batches.
    const text = await post(JSON.stringify(requests.length === 1 ? requests[0] : requests))
    return inOrder(text, firstId, calls.length)
  }

  function inOrder(text: string, firstId: number, count: number): readonly RpcAnswer[] {
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch (cause) {
      throw unreachable('answered with something that is not JSON', cause)
    }
    const list = (Array.isArray(parsed) ? parsed : [parsed]) as (RawAnswer | null)[]
    const byId = new Map(list.map((raw) => [raw?.id, raw]))
    return Array.from({ length: count }, (_, i) => {
      const answer = toAnswer(byId.get(firstId + i))
      if (!answer) throw unreachable('left a call unanswered')
      return answer
    })
  }

  return {
    batch,
    async call(method, params) {
      const [answer] = await batch([{ method, params }])
      return resultOf(method, answer)
    },
    close,
  }
}

/** Some nodes send ordinary JSON-RPC errors with status 400. Other statuses come from a proxy before the node. */
const answeringStatuses = new Set<number | undefined>([200, 400])

/** The results of all calls, in order and in one round trip. Throws `SvcError('rpc_error')` at the first refusal. */
export async function callAll(
  rpc: Pick<JsonRpc, 'batch'>,
  calls: readonly RpcCall[],
): Promise<readonly unknown[]> {
  const answers = await rpc.batch(calls)
  return calls.map(({ method }, i) => resultOf(method, answers[i]))
}

/** Some nodes send both `result` and `error` in every answer: an error wins, unless it is null. */
function toAnswer(raw: RawAnswer | null | undefined): RpcAnswer | undefined {
  if (raw?.error !== undefined && raw.error !== null) {
    return { error: raw.error as Extract<RpcAnswer, { error: unknown }>['error'] }
  }
  return raw && 'result' in raw ? { result: raw.result } : undefined
}

/** Reads a result. A malformed result throws `SvcError('rpc_error')`, because it is the node's fault. */
export function wellFormed<T>(method: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof SvcError) throw cause
    throw new SvcError('rpc_error', `${method}: the RPC answered with a malformed result`, { cause })
  }
}

/** The result of an answer, or `SvcError('rpc_error')` with the node's message. */
export function resultOf(method: string, answer: RpcAnswer | undefined): unknown {
  if (answer && 'result' in answer) return answer.result
  const message = answer?.error?.message ?? 'no answer'
  throw new SvcError('rpc_error', `${method}: ${message}`, { cause: answer?.error })
}

/** A result that is a number, such as a count or a block number. */
export function quantityOf(method: string, answer: RpcAnswer | undefined): bigint {
  const quantity = parseQuantity(resultOf(method, answer))
  if (quantity !== undefined) return quantity
  throw new SvcError('rpc_error', `${method}: the RPC answered with something that is no quantity`)
}
