/** JSON-RPC over HTTP. One `batch` is one round trip; errors never show the URL's credentials. */
import { SvcError } from '@svc-zerc20/protocol'
import { limits } from './limits.js'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

export type JsonRpc = {
  /**
   * The results in the order of the calls. Throws `SvcError('rpc_unreachable')` when the round trip fails and
   * `SvcError('rpc_error')`, with the node's error as its cause, when the node refuses one of the calls.
   */
  batch(calls: readonly RpcCall[]): Promise<readonly unknown[]>
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

/** Creates a client for one node. */
export function createJsonRpc(deps: { url: string; signal: AbortSignal }): JsonRpc {
  const url = new URL(deps.url)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  let nextId = 1

  const unreachable = (why: string, cause?: unknown) =>
    new SvcError('rpc_unreachable', `the RPC at ${url.host} ${why}`, { cause })

  async function post(body: string): Promise<unknown> {
    const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(limits.rpcTimeoutMs)])
    let response: Response
    let text: string
    try {
      response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
      text = await readAnswer(response)
    } catch (cause) {
      if (cause instanceof SvcError) throw cause
      throw unreachable('did not answer', cause)
    }
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw unreachable(`answered with status ${response.status} and something that is not JSON`, cause)
    }
  }

  async function readAnswer(response: Response): Promise<string> {
    const decoder = new TextDecoder()
    let bytes = 0
    let text = ''
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > limits.rpcAnswerBytesMax) throw unreachable('answered too much')
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  }

  async function batch(calls: readonly RpcCall[]): Promise<readonly unknown[]> {
    if (calls.length === 0) return []
    const firstId = nextId
    nextId += calls.length
    const requests = calls.map((call, at) => ({ jsonrpc: '2.0', id: firstId + at, ...call }))
    // A lone call goes unwrapped: not every node takes batches.
    const parsed = await post(JSON.stringify(requests.length === 1 ? requests[0] : requests))
    const answers = (Array.isArray(parsed) ? parsed : [parsed]) as (RpcAnswer | null)[]
    const byId = new Map(answers.map((answer) => [answer?.id, answer]))
    return calls.map(({ method }, at) => {
      const answer = byId.get(firstId + at)
      if (answer?.error) {
        throw new SvcError('rpc_error', `${method}: ${answer.error.message}`, { cause: answer.error })
      }
      if (!answer || !('result' in answer)) throw unreachable(`left ${method} unanswered`)
      return answer.result
    })
  }

  return {
    batch,
    async call(method, params) {
      const [result] = await batch([{ method, params }])
      return result
    },
  }
}

type RpcAnswer = {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}
