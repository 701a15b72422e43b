import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../test/challenges.js'
import { scriptedRpc } from '../../../test/scripted-rpc.js'
import { createTxNonces } from './tx-nonces.js'

function open(ours: () => readonly number[] = () => []) {
  let counted = 0
  const rpc = scriptedRpc({ eth_getTransactionCount: () => `0x${counted.toString(16)}` })
  return {
    txNonces: createTxNonces({ rpc, address: addressOf(1), ours }),
    /** The node counts this many transactions of the key from now on. */
    nodeCounts(transactions: number) {
      counted = transactions
    },
  }
}

const taken = async (txNonce: number) => txNonce

describe('txNonces', () => {
  it('are handed out one at a time, in order and without a gap', async () => {
    const { txNonces, nodeCounts } = open()
    nodeCounts(5)
    let signing = 0
    const sign = async (txNonce: number) => {
      signing += 1
      expect(signing).toBe(1)
      await new Promise(setImmediate)
      signing -= 1
      return txNonce
    }
    expect(await Promise.all([1, 2, 3].map(() => txNonces.take(sign)))).toEqual([5, 6, 7])
  })

  it('are free again when their transaction could not be signed', async () => {
    const { txNonces } = open()
    await txNonces.count()
    await expect(txNonces.take(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
    expect([await txNonces.take(taken), await txNonces.take(taken)]).toEqual([0, 1])
  })

  it('are counted again after a record that failed: it was written, and its bytes were sent', async () => {
    const { txNonces, nodeCounts } = open()
    nodeCounts(5)
    await expect(txNonces.take(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer')
    nodeCounts(6)
    expect(await txNonces.take(taken)).toBe(6)
    // A node that lags counts fewer, and is not believed.
    await expect(txNonces.take(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer')
    nodeCounts(2)
    expect([await txNonces.take(taken), await txNonces.take(taken)]).toEqual([7, 8])
  })

  it('are counted again after someone else used one, also when that is heard while one is signed', async () => {
    const { txNonces, nodeCounts } = open()
    expect(await txNonces.take(taken)).toBe(0)
    nodeCounts(3)
    expect(await txNonces.take(taken)).toBe(1)
    await txNonces.take(async () => txNonces.forget())
    nodeCounts(9)
    expect(await txNonces.take(taken)).toBe(9)
  })

  it('that one of our transactions has are not handed out, though the node does not know them', async () => {
    const { txNonces, nodeCounts } = open(() => [3, 7])
    nodeCounts(4)
    expect(await txNonces.take(taken)).toBe(8)
  })
})
