/** A proxy before the embedded chain that can give any answer, over real HTTP. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RpcRequest = { id: number; method: string; params: unknown[] }
/** Replaces the answer to one call, or delays it. Undefined keeps the true answer. */
export type Lie = (call: RpcRequest, truth: unknown) => unknown
/** Writes the whole HTTP answer. False leaves it to the node. */
export type Takeover = (response: ServerResponse, calls: readonly RpcRequest[]) => boolean

export async function startLyingNode(chain: {
  request(method: string, params?: readonly unknown[]): Promise<unknown>
}) {
  let lie: Lie = () => undefined
  let takeover: Takeover = () => false

  async function answer(call: RpcRequest): Promise<object> {
    try {
      const truth = await chain.request(call.method, call.params)
      return { jsonrpc: '2.0', id: call.id, result: (await lie(call, truth)) ?? truth ?? null }
    } catch (error) {
      const { code, message } = error as { code: number; message: string }
      return { jsonrpc: '2.0', id: call.id, error: { code, message } }
    }
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text) as RpcRequest | RpcRequest[]
    if (takeover(response, [body].flat())) return
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie(next: Lie) {
      lie = next
    },
    /** Answers the next request for the newest block with an absurd number. All other answers are true. */
    lieAboutHeadOnce(number = '0xffffffffff') {
      let isTold = false
      lie = ({ method, params }, truth) => {
        const isBlock = method === 'eth_getBlockByNumber' && params[0] === 'latest'
        if (isTold || !(isBlock || method === 'eth_blockNumber')) return undefined
        isTold = true
        return isBlock ? { ...(truth as object), number } : number
      }
      return { hasLied: () => isTold }
    },
    takeOver(next: Takeover) {
      takeover = next
    },
    tellTruth() {
      lie = () => undefined
      takeover = () => false
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
