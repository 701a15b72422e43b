/** Tests that every counter of txNonces must pass, whatever its storage. */
import { describe, expect, it } from 'vitest'
import type { TxNonces } from '../src/sending/relayer/tx-nonces.js'

export type TxNoncesUnderTest = {
  readonly txNonces: TxNonces
  /** The node counts this many transactions of the key from now on. */
  nodeCounts(transactions: number): void
}

const taken = async (txNonce: number) => txNonce

export function describeTxNonces(name: string, open: () => TxNoncesUnderTest): void {
  describe(`txNonces ${name}`, () => {
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

    it('are counted again after someone else used one, also when that is heard while one is signed', async () => {
      const { txNonces, nodeCounts } = open()
      expect(await txNonces.take(taken)).toBe(0)
      nodeCounts(3)
      expect(await txNonces.take(taken)).toBe(1)
      await txNonces.take(() => txNonces.forget())
      nodeCounts(9)
      expect(await txNonces.take(taken)).toBe(9)
    })
  })
}
