import { encodeAbiParameters, pad, toEventSelector, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, hashOf, seconds, units } from '../../../test/challenges.js'
import { blocksUpTo, scriptedRpc } from '../../../test/scripted-rpc.js'
import type { ClaimedTransfer } from '../../chain/indexer.js'
import type { Burn } from '../../payment/records.js'
import { createBurnSearch } from './burn-search.js'

const token = addressOf(0xa1)
const payTo = addressOf(1)
const transferTopic = toEventSelector('Transfer(address,address,uint256)')

/** Transfers to one address, on the chain and as the indexer reports them. */
function setup(burns: Burn[], indexer: () => ClaimedTransfer[]) {
  const reported: string[] = []
  const rpc = scriptedRpc({
    ...blocksUpTo(() => 100),
    eth_getLogs: ({ topics }: { topics: unknown[] }) => {
      expect(topics).toEqual([transferTopic, null, [pad(payTo)]])
      return burns.map((burn) => ({
        address: token,
        topics: [transferTopic, pad(burn.from), pad(payTo)],
        data: encodeAbiParameters([{ type: 'uint256' }], [burn.value]),
        transactionHash: burn.txHash,
        blockNumber: toHex(burn.blockNumber),
        blockHash: burn.blockHash,
      }))
    },
  })
  const search = createBurnSearch({
    rpc,
    chain: {
      balances: async (addresses) => addresses.map(() => burns.reduce((sum, { value }) => sum + value, 0n)),
      async selfTransferFacts(txHash) {
        const burn = burns.find((one) => one.txHash === txHash)
        const facts = { timestamp: seconds(0), headNumber: 100n, burnAddressBalance: 0n }
        if (!burn) return facts
        const { blockNumber, blockHash } = burn
        return {
          ...facts,
          receipt: { succeeded: true, blockNumber, blockHash, transfers: [{ ...burn, to: payTo }] },
        }
      },
    },
    indexer: { transfersTo: async () => indexer() },
    token,
    helper: undefined,
    fromBlock: 0,
    signal: new AbortController().signal,
    report: ({ event }) => reported.push(event),
    limits: { lensQueriesMax: 100, logSpanBlocksMax: 1_000 },
  })
  return {
    rpc,
    reported,
    find: async () => (await search.largestTransfers([{ payTo, issuedAtBlock: 0n }])).get(payTo),
  }
}

const small = { ...burnOf(10), value: units(5n) }
const large = { ...burnOf(20), value: units(700n), leafIndex: 3n }
const claimOf = ({ txHash, value }: Burn): ClaimedTransfer => ({ txHash, value })

describe('the largest transfer to an address', () => {
  it('is found with the indexer when it tells of everything and its receipt agrees', async () => {
    const { find, rpc } = setup([small, large], () => [claimOf(small), claimOf(large)])
    expect(await find()).toEqual(large)
    expect(rpc.asked).not.toContain('eth_getLogs')
  })

  it.each<[string, () => ClaimedTransfer[]]>([
    ['is behind', () => [claimOf(small)]],
    ['has nothing', () => []],
    ['invents a transaction', () => [{ txHash: hashOf(77), value: 705n }]],
    [
      'lies about a value',
      () => [
        { txHash: small.txHash, value: 700n },
        { txHash: large.txHash, value: 5n },
      ],
    ],
  ])('fault 19: is found in the logs when the indexer %s', async (_what, indexer) => {
    const { find, rpc } = setup([small, large], indexer)
    expect(await find()).toEqual(large)
    expect(rpc.asked).toContain('eth_getLogs')
  })

  it('fault 19: is found in the logs when the indexer is down, which is told', async () => {
    const { find, reported } = setup([large], () => {
      throw new Error('connection refused')
    })
    expect(await find()).toEqual(large)
    expect(reported).toEqual(['indexer.failed'])
  })

  it('is nothing where nothing lies, and nobody is asked about it', async () => {
    const { find, rpc } = setup([], () => [claimOf(large)])
    expect(await find()).toBeUndefined()
    expect(rpc.asked).toEqual([])
  })
})
