import { createJsonRpc } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressOf, epochOfSecond } from '../../test/challenges.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { createBatchCounts } from './batch-counts.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

it('an epoch that nobody counted has no counts, of our account or of others', async () => {
  const rpc = createJsonRpc({ url: net.rpcUrl, timeoutMs: 10_000, answerBytesMax: 1_000_000 })
  try {
    const counts = createBatchCounts({
      rpc,
      verifier: net.deployment.verifier as Address,
      submitter: addressOf(1),
      recipientHashOf: () => 7n,
      deployedBlock: 0,
      confirmations: 1,
    })
    const epoch = { ...epochOfSecond(60), treasury: addressOf(2) }
    const none = { checkpoint: 0n, counted: 0n, minted: 0n }
    expect(await counts.counts([epoch])).toEqual([{ latest: none, deep: none }])
    expect(await counts.findCounts(epoch, 0n)).toEqual([])
    expect(await counts.foreignCounts(epoch)).toEqual([])
  } finally {
    rpc.close()
  }
})
