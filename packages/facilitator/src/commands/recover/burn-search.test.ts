import { encodeAbiParameters, pad, toEventSelector, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, seconds, units } from '../../../test/challenges.js'
import { blocksUpTo, scriptedRpc } from '../../../test/scripted-rpc.js'
import type { Burn } from '../../payment/records.js'
import { createBurnSearch } from './burn-search.js'

const token = addressOf(0xa1)
const payTo = addressOf(1)
const transferTopic = toEventSelector('Transfer(address,address,uint256)')

/** Transfers to one address, by the logs and by the receipts. */
function setup(burns: Burn[], receipts = burns) {
  const rpc = scriptedRpc({
    ...blocksUpTo(() => 100),
    eth_getLogs: ({ topics }: { topics: unknown[] }) => {
      expect(topics).toEqual([transferTopic, null, pad(payTo)])
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
        const burn = receipts.find((one) => one.txHash === txHash)
        const facts = { timestamp: seconds(0), headNumber: 100n, burnAddressBalance: 0n }
        if (!burn) return facts
        const { blockNumber, blockHash } = burn
        return {
          ...facts,
          receipt: { succeeded: true, blockNumber, blockHash, transfers: [{ ...burn, to: payTo }] },
        }
      },
    },
    token,
    helper: undefined,
    fromBlock: 0,
    lensQueriesMax: 100,
  })
  return {
    rpc,
    find: () => search.largestTransfer(payTo),
  }
}

const small = { ...burnOf(10), value: units(5n) }
const large = { ...burnOf(20), value: units(700n), leafIndex: 3n }

describe('the largest transfer to an address', () => {
  it('is found in the logs, and read from its receipt', async () => {
    expect(await setup([small, large]).find()).toEqual(large)
  })

  it('is nothing while its receipt says something else', async () => {
    expect(await setup([large], []).find()).toBeUndefined()
  })

  it('is nothing where nothing lies, and nobody is asked about it', async () => {
    const { find, rpc } = setup([])
    expect(await find()).toBeUndefined()
    expect(rpc.asked).toEqual([])
  })
})
