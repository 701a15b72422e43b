import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { zeroAddress } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createIndexer } from './indexer.js'

const asked: { readonly url: string | undefined; readonly authorization: string | undefined }[] = []
const server = createServer(({ url, headers: { authorization } }, response) => {
  asked.push({ url, authorization })
  const body = url?.endsWith('/status')
    ? [{ tree_synced_index: 9, onchain_proved_index: 7, synced_block: 30, root_error: 'no gas' }]
    : []
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

it.each([
  ['no credentials', '', undefined],
  ['a user and a password', 'sh%40p:s3cret@', `Basic ${btoa('sh@p:s3cret')}`],
  ['a password alone', ':s3cret@', `Basic ${btoa(':s3cret')}`],
])('an indexer whose URL has %s is asked with them in a header', async (_, credentials, authorization) => {
  const { port } = server.address() as AddressInfo
  const indexer = createIndexer({
    url: `http://${credentials}127.0.0.1:${port}/indexer/`,
    chainId: 1,
    token: zeroAddress,
    timeoutMs: 10_000,
    statusMs: 1_000,
    answerBytesMax: 1_000,
  })
  expect(await indexer.siblings(0n, 1n, new AbortController().signal)).toEqual([])
  expect(asked.at(-1)?.url).toBe('/indexer/proofs')
  expect(asked.at(-1)?.authorization).toBe(authorization)
})

it('an indexer says how far it is', async () => {
  const { port } = server.address() as AddressInfo
  const terms = { chainId: 1, token: zeroAddress, timeoutMs: 10_000, statusMs: 1_000, answerBytesMax: 1_000 }
  const indexer = createIndexer({ url: `http://127.0.0.1:${port}`, ...terms })
  expect(await indexer.status()).toEqual({ leaves: 9, proved: 7, block: 30, problem: 'no gas' })
})
