import { Agent, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, post } from '../../../test/rpc.js'
import { type Chain, startChain } from '../chain.js'

let chain: Chain

beforeAll(async () => {
  chain = await startChain()
})

afterAll(() => chain.close())

const json = async (body: string) => (await post(chain.rpcUrl, body)).json()

test('an answer carries the version and the id of its call', async () => {
  expect(await json('{"jsonrpc":"2.0","id":"seven","method":"eth_chainId"}')).toEqual({
    jsonrpc: '2.0',
    id: 'seven',
    result: '0x7a69',
  })
})

test('a batch is answered in its order, failures among successes', async () => {
  const calls = [
    { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] },
    { jsonrpc: '2.0', id: 2, method: 'no_such', params: [] },
    5,
    { jsonrpc: '2.0', id: 3, method: 'net_version' },
  ]
  expect(await json(JSON.stringify(calls))).toMatchObject([
    { id: 1, result: '0x7a69' },
    { id: 2, error: { code: -32601 } },
    { id: null, error: { code: -32600 } },
    { id: 3, result: '31337' },
  ])
})

test('a notification is not answered', async () => {
  const response = await post(chain.rpcUrl, '{"jsonrpc":"2.0","method":"eth_chainId"}')
  expect([response.status, await response.text()]).toEqual([204, ''])
})

test.each([
  ['{"jsonrpc":', -32700],
  ['', -32700],
  ['[]', -32600],
  ['null', -32600],
  ['{"id":1}', -32600],
  ['{"id":1,"method":5}', -32600],
  ['{"id":1,"method":"eth_chainId","params":{}}', -32602],
  ['{"id":1,"method":"eth_getBalance","params":[]}', -32602],
  ['{"id":1,"method":"eth_sendRawTransaction","params":["nonsense"]}', -32602],
  ['{"id":1,"method":"hardhat_reset","params":[]}', -32601],
  ['{"id":1,"method":"eth_sendTransaction","params":[{}]}', -32601],
  ['{"id":1,"method":"dev_reorg","params":["much"]}', -32602],
  ['{"id":1,"method":"evm_mine","params":[{"blocks":10001}]}', -32602],
  ['{"id":1,"method":"__proto__","params":[]}', -32601],
])('the malformed request %s gets an error code', async (body, code) => {
  expect(await json(body)).toMatchObject({ jsonrpc: '2.0', error: { code } })
})

test('another method than POST gets 405', async () => {
  const response = await fetch(chain.rpcUrl)
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})

test('a body above the limit gets 413', async () => {
  expect((await post(chain.rpcUrl, 'x'.repeat(17 * 1024 * 1024))).status).toBe(413)
})

test('a connection serves one request after another', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const reused = () =>
    new Promise<boolean>((resolve, reject) => {
      const request = httpRequest(chain.rpcUrl, { method: 'POST', agent }, (response) => {
        response.resume().on('end', () => setImmediate(resolve, request.reusedSocket))
      })
      request.on('error', reject).end('{"id":1,"method":"eth_chainId"}')
    })
  expect([await reused(), await reused()]).toEqual([false, true])
  agent.destroy()
})

test('a caller that leaves in the middle of its request does no harm', async () => {
  const request = httpRequest(chain.rpcUrl, { method: 'POST', headers: { 'content-length': '1000' } })
  request.on('error', () => undefined)
  request.write('{')
  await new Promise((resolve) => request.on('socket', (socket) => socket.on('connect', resolve)))
  request.destroy()
  expect(await call(chain.rpcUrl, 'eth_chainId')).toMatchObject({ result: '0x7a69' })
})

test('a reverted call answers as geth does: code 3 and the returned bytes', async () => {
  // Bytecode that reverts with 0xdeadbeef.
  const { error } = await call(chain.rpcUrl, 'eth_call', [{ data: '0x63deadbeef6000526004601cfd' }, 'latest'])
  expect(error).toEqual({ code: 3, message: 'execution reverted', data: '0xdeadbeef' })
})

test('a taken port is a clear error and nothing is left running', async () => {
  await expect(startChain({ port: chain.port })).rejects.toThrow(
    `port ${chain.port} on 127.0.0.1 is already in use`,
  )
})

test('calls are counted by method, controls are not', async () => {
  const before = chain.stats()
  await call(chain.rpcUrl, 'eth_gasPrice')
  await call(chain.rpcUrl, 'dev_stats')
  const after = chain.stats()
  expect(after.calls.eth_gasPrice).toBe((before.calls.eth_gasPrice ?? 0) + 1)
  expect(after.httpRequests).toBe(before.httpRequests + 2)
  expect(Object.keys(after.calls).filter((method) => method.startsWith('dev_'))).toEqual([])
  expect((await call(chain.rpcUrl, 'dev_stats')).result).toMatchObject({ calls: after.calls })
})
