import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { developmentRoles } from '../node/accounts.js'
import { createChainClient } from './chain-client.js'

const hash = `0x${'ab'.repeat(32)}` as const

/** A node whose receipt comes at the third question, and whose head then falls back from an absurd height for good. */
async function startNode(): Promise<string> {
  let asked = 0
  const answers: Record<string, () => unknown> = {
    eth_getTransactionReceipt: () =>
      ++asked < 3 ? null : { status: '0x1', logs: [], transactionHash: hash },
    eth_blockNumber: () => (asked < 2 ? '0xffffffffff' : '0x2'),
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = JSON.parse(text) as { id: number; method: string }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.() ?? null }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('finds a receipt that comes late, though the chain has no further block', async () => {
  const { privateKey } = developmentRoles.deployer
  const { succeeded } = createChainClient({ rpcUrl: await startNode(), privateKey })
  expect(await succeeded(hash, 'a gift')).toMatchObject({ status: 'success', transactionHash: hash })
})
