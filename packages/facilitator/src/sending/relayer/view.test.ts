import type { RpcCall } from '@svc-zerc20/evm'
import type { Address, Bytes32, TxHash } from '@svc-zerc20/protocol'
import { expect, it } from 'vitest'
import { createRelayReader } from './view.js'

const head = { number: 100n, hash: `0x${'aa'.repeat(32)}` as Bytes32 }
const hash = (digit: number) => `0x${`${digit}`.repeat(64)}` as TxHash

/** A node whose transactions are mined in its head, all of them, once it has answered so many round trips. */
function startReader(
  minedAfter: number,
  { chainId = '0x1', receiptOf }: { chainId?: string; receiptOf?: TxHash } = {},
) {
  const trips: string[][] = []
  const answerOf = ({ method, params }: RpcCall, isMined: boolean): unknown => {
    if (method === 'eth_chainId') return chainId
    if (method === 'eth_getTransactionCount') return isMined ? '0x6' : '0x5'
    if (method === 'eth_getBlockByNumber') return { number: '0x64', hash: head.hash }
    const receipt = {
      transactionHash: receiptOf ?? params[0],
      blockHash: head.hash,
      blockNumber: '0x64',
      logs: [],
    }
    return isMined ? receipt : null
  }
  const rpc = {
    async batch(calls: readonly RpcCall[]) {
      const isMined = trips.length >= minedAfter
      trips.push(calls.map(({ method }) => method))
      return calls.map((call) => ({ result: answerOf(call, isMined) }))
    },
  }
  const address = `0x${'22'.repeat(20)}` as Address
  return { trips, reader: createRelayReader({ rpc, address, chainId: 1, onUnreadable: () => undefined }) }
}

it('asks for the receipt alone when the head holds the only transaction', async () => {
  const { reader, trips } = startReader(0)
  expect(await reader.view(head, [hash(1)])).toMatchObject({ headIsThere: true, receipts: [{}] })
  expect(trips).toEqual([['eth_getTransactionReceipt']])
})

it.each([
  ['missing', Number.POSITIVE_INFINITY],
  ['for another hash', 0],
])('asks for the chain where the receipt is %s', async (_, minedAfter) => {
  const { reader, trips } = startReader(minedAfter, { chainId: '0x2', receiptOf: hash(3) })
  await expect(reader.view(head, [hash(1)])).rejects.toMatchObject({ code: 'wrong_chain' })
  expect(trips[1]).toContain('eth_chainId')
})

it('asks for several in one round trip, mined or not', async () => {
  const { reader, trips } = startReader(1)
  await reader.view(head, [hash(1), hash(2)])
  expect(trips).toHaveLength(1)
})

it('never shows a txNonce used without the receipt of the transaction that was mined meanwhile', async () => {
  const { reader } = startReader(1)
  expect(await reader.view(head, [hash(1)])).toMatchObject({
    usedTxNonces: 6,
    receipts: [{ blockHash: head.hash }],
  })
})

it('says nothing of a new transaction that has no receipt yet, and asks for nothing else', async () => {
  const { reader, trips } = startReader(Number.POSITIVE_INFINITY)
  expect(await reader.view(head, [hash(1)], { isNew: true })).toBe(undefined)
  expect(trips).toEqual([['eth_getTransactionReceipt']])
})
