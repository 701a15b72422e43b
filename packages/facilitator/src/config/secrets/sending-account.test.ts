import fc from 'fast-check'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { sendingAccountOf } from './sending-account.js'

const bytes32 = (max: bigint) =>
  fc.bigInt({ min: 1n, max }).map((value) => `0x${value.toString(16).padStart(64, '0')}` as Hex)

it('an account signs every hash as viem does', async () => {
  await fc.assert(
    fc.asyncProperty(bytes32(2n ** 255n), bytes32(2n ** 256n - 1n), async (key, hash) => {
      const [ours, theirs] = [sendingAccountOf(key), privateKeyToAccount(key)]
      expect(ours.address).toBe(theirs.address)
      expect(await ours.sign({ hash })).toBe(await theirs.sign({ hash }))
    }),
    { numRuns: 50 },
  )
})
