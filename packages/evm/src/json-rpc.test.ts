import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callAll, createJsonRpc, quantityOf, resultOf } from './json-rpc.js'

type Sent = { id: number; method: string; params: unknown[] }
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A fake node with scripted answers, on a free port. */
async function startNode(
  answer: (sent: Sent[], response: ServerResponse, request: IncomingMessage) => void,
  { host = '127.0.0.1', login = '' } = {},
) {
  const bodies: unknown[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    bodies.push(body)
    answer([body].flat(), response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  const url = `http://${login}${shown}:${port}/rpc?key=k`
  const rpc = createJsonRpc({ url, timeoutMs: 30_000, answerBytesMax: 10_000 })
  closers.push(() => {
    rpc.close()
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { rpc, bodies }
}

const answering = (make: (sent: Sent) => object) => (sent: Sent[], response: ServerResponse) =>
  void response.end(JSON.stringify(sent.map(make)))
const calls = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ method: `eth_${i}`, params: [i] }))

describe('a batch', () => {
  it('is one request, and its answers come in the order of the calls however the node sorts them', async () => {
    const { rpc, bodies } = await startNode((sent, response) =>
      response.end(JSON.stringify(sent.map(({ id, params }) => ({ id, result: params[0] })).reverse())),
    )
    expect(await rpc.batch(calls(5))).toMatchObject([0, 1, 2, 3, 4].map((result) => ({ result })))
    expect(bodies).toHaveLength(1)
  })

  it('of one goes unwrapped, and of none not at all', async () => {
    const { rpc, bodies } = await startNode(([sent], response) =>
      response.end(JSON.stringify({ id: sent?.id, result: '0x7' })),
    )
    expect(await rpc.batch([])).toEqual([])
    expect(await rpc.call('eth_blockNumber', [])).toBe('0x7')
    expect(bodies).toEqual([{ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }])
  })

  it("gives the node's refusal of one call beside the results of the others", async () => {
    const { rpc } = await startNode(
      answering(({ id }) => (id === 2 ? { id, error: { code: -32000, message: 'no' } } : { id, result: id })),
    )
    expect(await rpc.batch(calls(3))).toMatchObject([
      { result: 1 },
      { error: { message: 'no' } },
      { result: 3 },
    ])
  })

  it('takes a refusal for one although a result stands beside it, and a null in its place for none', async () => {
    const error = { code: -32000, message: 'no' }
    const { rpc } = await startNode(
      answering(({ id }) => (id === 1 ? { id, result: null, error } : { id, result: id, error: null })),
    )
    expect(await rpc.batch(calls(2))).toEqual([{ error }, { result: 2 }])
  })

  it("gives the node's refusal although it comes with status 400", async () => {
    const { rpc } = await startNode((sent, response) => {
      const answers = sent.map(({ id }) => ({ id, error: { code: -32602, message: 'Invalid params' } }))
      response.writeHead(400).end(JSON.stringify(answers))
    })
    expect(await rpc.batch(calls(2))).toMatchObject([{ error: { code: -32602 } }, { error: {} }])
  })

  it('of two callers at once does not mix their answers', async () => {
    const { rpc } = await startNode(answering(({ id, params }) => ({ id, result: params[0] })))
    const [a, b] = await Promise.all([rpc.batch(calls(3)), rpc.batch(calls(2))])
    expect([a?.length, b?.length]).toEqual([3, 2])
  })
})

describe('a round trip that fails', () => {
  const broken: [string, (sent: Sent[], response: ServerResponse) => void][] = [
    ['status 500', (_, response) => void response.writeHead(500).end('oops')],
    ['status 400', (_, response) => void response.writeHead(400).end('bad request')],
    ['status 429', (_, response) => void response.writeHead(429).end('{}')],
    ['a redirect', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1' }).end()],
    ['words', (_, response) => void response.end('<html>')],
    ['half of it', (_, response) => void response.end('[{"id":1,"res')],
    ['nothing', (_, response) => void response.end()],
    ['null', (_, response) => void response.end('null')],
    ['a list of null', (_, response) => void response.end('[null,null]')],
    [
      'a call left out',
      ([sent], response) => void response.end(JSON.stringify([{ id: sent?.id, result: 1 }])),
    ],
    ['neither result nor error', (sent, response) => void response.end(JSON.stringify(sent))],
    ['no result and no refusal', answering(({ id }) => ({ id, error: null }))],
    [
      'one refusal for all',
      (_, response) => void response.end('{"id":null,"error":{"code":1,"message":"x"}}'),
    ],
    ['too much', (_, response) => void response.end(' '.repeat(10_001))],
    ['a broken connection', (_, response) => void response.destroy()],
    [
      'a connection broken in the middle',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('[{"id":1')
        setImmediate(() => response.destroy())
      },
    ],
  ]
  it.each(broken)('is rpc_unreachable: %s', async (_what, answer) => {
    const { rpc } = await startNode(answer)
    await expect(rpc.batch(calls(2))).rejects.toMatchObject({ name: 'SvcError', code: 'rpc_unreachable' })
  })

  const silent: [string, (sent: Sent[], response: ServerResponse) => void][] = [
    ['no answer comes', () => undefined],
    ['an answer begins and does not end', (_, response) => void response.write('[{"id":1')],
  ]
  it.each(silent)('is given up after its bound when %s', async (_what, answer) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    closers.push(() => vi.useRealTimers())
    let connection: IncomingMessage['socket'] | undefined
    const { rpc, bodies } = await startNode((sent, response, request) => {
      connection = request.socket
      answer(sent, response)
    })
    const given = expect(rpc.batch(calls(1))).rejects.toMatchObject({ code: 'rpc_unreachable' })
    await vi.waitUntil(() => bodies.length > 0)
    vi.advanceTimersByTime(30_000)
    await given
    await vi.waitUntil(() => connection?.destroyed)
  })

  it('leaves no timer behind, and neither does a good one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    closers.push(() => vi.useRealTimers())
    for (const [, answer] of [...broken, ['', answering(({ id }) => ({ id, result: id }))] as const]) {
      const { rpc } = await startNode(answer)
      await rpc.batch(calls(2)).catch(() => undefined)
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  it('ends at once when the client is closed', async () => {
    const { rpc } = await startNode(() => rpc.close())
    await expect(rpc.batch(calls(1))).rejects.toMatchObject({ code: 'rpc_unreachable' })
  })

  it('is every one that begins after the client was closed, and the node hears nothing of it', async () => {
    const { rpc, bodies } = await startNode(answering(({ id }) => ({ id, result: id })))
    rpc.close()
    await expect(rpc.batch(calls(1))).rejects.toMatchObject({ code: 'rpc_unreachable' })
    expect(bodies).toEqual([])
  })

  it("shows the host and never the URL's credentials or key", async () => {
    const { rpc } = await startNode((_, response) => void response.writeHead(401).end(), {
      login: 'me:hunter2@',
    })
    const error = await rpc.batch(calls(1)).catch((err) => err as Error)
    expect(`${error}`).toContain('127.0.0.1')
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/hunter2|key=k/)
  })
})

it("sends the URL's credentials, path and query to the node", async () => {
  let seen: unknown
  const { rpc } = await startNode(
    ([sent], response, { headers, url }) => {
      seen = { authorization: headers.authorization, url }
      response.end(JSON.stringify({ id: sent?.id, result: null }))
    },
    { login: 'me:p%40ss@' },
  )
  await rpc.call('eth_chainId', [])
  expect(seen).toEqual({
    authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    url: '/rpc?key=k',
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some((each) => each.address === '::1'),
)

it.runIf(hasIpv6)('reaches a node by its IPv6 address', async () => {
  const { rpc } = await startNode(
    ([sent], response) => response.end(JSON.stringify({ id: sent?.id, result: 1 })),
    { host: '::1' },
  )
  expect(await rpc.call('eth_chainId', [])).toBe(1)
})

describe('reading an answer', () => {
  it('gives all results in the order of the calls, or the first refusal', async () => {
    const { rpc } = await startNode(
      answering(({ id }) => (id < 3 ? { id, result: id } : { id, error: { code: 3, message: 'no' } })),
    )
    expect(await callAll(rpc, calls(2))).toEqual([1, 2])
    await expect(callAll(rpc, calls(2))).rejects.toMatchObject({
      code: 'rpc_error',
      message: 'eth_0: no',
      cause: { code: 3 },
    })
  })

  it("throws the node's own words", () => {
    expect(() => resultOf('eth_call', { error: { code: 3, message: 'execution reverted' } })).toThrow(
      'eth_call: execution reverted',
    )
  })

  it.each([[null], [''], ['0x'], ['7'], [7], ['0xzz'], [{}]])('takes %j for no quantity', (result) => {
    expect(() => quantityOf('eth_chainId', { result })).toThrow(
      expect.objectContaining({ code: 'rpc_error' }),
    )
  })

  it('takes a quantity for what it is', () => {
    expect(quantityOf('eth_chainId', { result: '0x7a69' })).toBe(31_337n)
  })
})
