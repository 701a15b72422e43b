import { expect, it } from 'vitest'
import { addressOf } from '../../../test/challenges.js'
import { scriptedRpc } from '../../../test/scripted-rpc.js'
import { describeTxNonces } from '../../../test/tx-nonces-contract.js'
import { createTxNonces } from './tx-nonces.js'

function open(ours: () => readonly number[] = () => []) {
  let counted = 0
  const rpc = scriptedRpc({ eth_getTransactionCount: () => `0x${counted.toString(16)}` })
  return {
    txNonces: createTxNonces({ rpc, address: addressOf(1), ours }),
    nodeCounts(transactions: number) {
      counted = transactions
    },
  }
}

describeTxNonces('in memory', () => open())

it('a txNonce that one of our transactions has is not handed out, though the node does not know it', async () => {
  const { txNonces, nodeCounts } = open(() => [3, 7])
  nodeCounts(4)
  expect(await txNonces.take(async (txNonce) => txNonce)).toBe(8)
})
