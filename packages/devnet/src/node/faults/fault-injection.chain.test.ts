import type { Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { call, post, rpc } from '../../../test/rpc.js'
import { recipient, transfer } from '../../../test/transfers.js'
import { type Chain, startChain } from '../chain.js'

let chain: Chain

beforeEach(async () => {
  chain = await startChain()
})

afterEach(() => chain.close())

const sendBody = (raw: Hex) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] })
const receipt = (hash: Hex) => rpc<object | null>(chain.rpcUrl, 'eth_getTransactionReceipt', [hash])

async function mined(raw: Hex): Promise<Hex> {
  const hash = (await chain.request('eth_sendRawTransaction', [raw])) as Hex
  await until(() => chain.request('eth_getTransactionReceipt', [hash]))
  return hash
}

test('a delayed answer is the right one', async () => {
  chain.setFaults([{ method: 'eth_chainId', kind: 'delay', delayMs: 20 }])
  expect(await rpc(chain.rpcUrl, 'eth_chainId')).toBe('0x7a69')
})

test('a hanging call is never answered and, unless told so, never executed', async () => {
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', times: 1 }])
  const raw = await transfer(0)
  const leave = new AbortController()
  const answer = post(chain.rpcUrl, sendBody(raw), { signal: leave.signal })
  // A later call on another connection is answered, so the node is still running.
  expect(await rpc(chain.rpcUrl, 'eth_blockNumber')).toBe('0x0')
  leave.abort()
  await expect(answer).rejects.toThrow(/abort/)
  expect(await chain.request('eth_blockNumber')).toBe('0x0')
  expect(await rpc(chain.rpcUrl, 'eth_sendRawTransaction', [raw])).toMatch(/^0x/)
})

test('a call can hang after the node executed it', async () => {
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: true }])
  const leave = new AbortController()
  const answer = post(chain.rpcUrl, sendBody(await transfer(0)), { signal: leave.signal }).catch(() => 'left')
  await until(async () => (await chain.request('eth_blockNumber')) === '0x1')
  leave.abort()
  expect(await answer).toBe('left')
})

test('a proxy answers with a status of its own', async () => {
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'httpStatus', status: 503, times: 1 }])
  const raw = await transfer(0)
  expect((await post(chain.rpcUrl, sendBody(raw))).status).toBe(503)
  expect((await post(chain.rpcUrl, sendBody(raw))).status).toBe(200)
})

test('the node answers an error of our choice', async () => {
  chain.setFaults([
    { method: 'eth_gasPrice', kind: 'error', code: -32_005, message: 'limit exceeded', times: 1 },
  ])
  expect((await call(chain.rpcUrl, 'eth_gasPrice')).error).toEqual({
    code: -32_005,
    message: 'limit exceeded',
  })
  expect((await call(chain.rpcUrl, 'eth_gasPrice')).result).toMatch(/^0x/)
})

test('a dropped response breaks the connection after the node took the transaction', async () => {
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'dropResponse', times: 1 }])
  const raw = await transfer(0)
  await expect(post(chain.rpcUrl, sendBody(raw))).rejects.toThrow()
  await until(async () => (await chain.request('eth_blockNumber')) === '0x1')
  const again = await call(chain.rpcUrl, 'eth_sendRawTransaction', [raw])
  expect(again.error?.message).toMatch(/nonce too low/)
})

test('trouble with one call of a batch is trouble with the connection', async () => {
  chain.setFaults([{ method: 'eth_gasPrice', kind: 'dropResponse' }])
  const batch = ['eth_chainId', 'eth_gasPrice'].map((method, id) => ({
    jsonrpc: '2.0',
    id,
    method,
    params: [],
  }))
  await expect(post(chain.rpcUrl, JSON.stringify(batch))).rejects.toThrow()
})

test('a receipt can be missing for a while and appear later', async () => {
  const hash = await mined(await transfer(0))
  chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null, times: 2 }])
  expect([await receipt(hash), await receipt(hash)]).toEqual([null, null])
  expect(await receipt(hash)).toMatchObject({ status: '0x1' })
})

test('a node can lie about its chain', async () => {
  chain.setFaults([{ method: 'eth_chainId', kind: 'result', value: '0x1' }])
  expect(await rpc(chain.rpcUrl, 'eth_chainId')).toBe('0x1')
})

test('a lagging node answers everything from an older block', async () => {
  const balance = () => rpc<Hex>(chain.rpcUrl, 'eth_getBalance', [recipient, 'latest'])
  await chain.mine(3)
  const before = await balance()
  const hash = await mined(await transfer(0))
  chain.setFaults([{ method: '*', kind: 'lag', blocks: 1 }])
  expect(await rpc(chain.rpcUrl, 'eth_blockNumber')).toBe('0x3')
  expect(await rpc(chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ number: '0x3' })
  expect(await receipt(hash)).toBeNull()
  expect(await rpc(chain.rpcUrl, 'eth_getTransactionByHash', [hash])).toMatchObject({
    hash,
    blockNumber: null,
  })
  expect(await balance()).toBe(before)
  chain.setFaults([])
  expect(await rpc(chain.rpcUrl, 'eth_blockNumber')).toBe('0x4')
  expect(await receipt(hash)).not.toBeNull()
  expect(await balance()).not.toBe(before)
})

test('other processes inject faults over JSON-RPC, and the controls stay reachable', async () => {
  await rpc(chain.rpcUrl, 'dev_setFaults', [[{ method: '*', kind: 'httpStatus', status: 500 }], { seed: 3 }])
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  expect((await post(chain.rpcUrl, body)).status).toBe(500)
  expect(await chain.request('eth_chainId')).toBe('0x7a69')
  await rpc(chain.rpcUrl, 'dev_clearFaults')
  expect((await post(chain.rpcUrl, body)).status).toBe(200)
})

test('other processes pause and resume mining over JSON-RPC', async () => {
  await rpc(chain.rpcUrl, 'dev_pauseMining')
  const hash = await rpc<Hex>(chain.rpcUrl, 'eth_sendRawTransaction', [await transfer(0)])
  expect(await receipt(hash)).toBeNull()
  await rpc(chain.rpcUrl, 'dev_resumeMining')
  expect(await until(() => receipt(hash))).toMatchObject({ status: '0x1' })
})
